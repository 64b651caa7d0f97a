package main_test

import (
	"bufio"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkGone fails the test for each process, mount, network namespace, cgroup and file that a stack in the temporary
// directory has left. Network namespaces are kept by mounts.
func checkGone(t *testing.T, dir string, ids []string) {
	t.Helper()
	for pid := range processes(t, dir) {
		t.Errorf("process %s is left: %s", pid, commandLine(pid))
	}
	for _, line := range mounts(t) {
		if strings.Contains(line, dir) {
			t.Errorf("mount is left: %s", line)
		}
	}
	for _, path := range cgroups(t, ids) {
		t.Errorf("cgroup is left: %s", path)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Errorf("file is left: %s", f.Name())
	}
}

// processes are those that name the directory in their command line or environment, by PID with the program's name. The
// test itself is none of them.
func processes(t *testing.T, dir string) map[string]string {
	t.Helper()
	directories, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, directory := range directories {
		pid := filepath.Base(directory)
		environment, _ := os.ReadFile(filepath.Join(directory, "environ")) // one that is gone in the meantime is none
		if command := commandLine(pid); strings.Contains(command+string(environment), dir) {
			program, _, _ := strings.Cut(command, " ")
			found[pid] = filepath.Base(program)
		}
	}
	return found
}

func commandLine(pid string) string {
	text, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	return strings.ReplaceAll(string(text), "\x00", " ")
}

func mounts(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// cgroups are those whose names end in one of the containers' IDs.
func cgroups(t *testing.T, ids []string) (found []string) {
	t.Helper()
	for _, depth := range []string{"*", "*/*", "*/*/*"} {
		paths, err := filepath.Glob("/sys/fs/cgroup/" + depth)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if slices.ContainsFunc(ids, func(id string) bool { return strings.HasSuffix(path, id) }) {
				found = append(found, path)
			}
		}
	}
	return found
}

// listeners are the addresses at which the stack's processes take TCP connections, by program.
func listeners(t *testing.T, dir string) map[string][]net.IP {
	t.Helper()
	addresses := listeningSockets(t)
	found := map[string][]net.IP{}
	for pid, program := range processes(t, dir) {
		files, _ := filepath.Glob(filepath.Join("/proc", pid, "fd", "*"))
		for _, file := range files {
			target, _ := os.Readlink(file)
			if ip, listens := addresses[target]; listens {
				found[program] = append(found[program], ip)
			}
		}
	}
	return found
}

// listeningSockets are the addresses of this network's listening TCP sockets, by what their file descriptors link to.
func listeningSockets(t *testing.T) map[string]net.IP {
	t.Helper()
	const listen = "0A" // the kernel's state of a socket that listens
	found := map[string]net.IP{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if os.IsNotExist(err) {
			continue // a machine without IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && fields[3] == listen {
				found["socket:["+fields[9]+"]"] = address(t, fields[1])
			}
		}
	}
	return found
}

// address reads one of the kernel's tables, where each word of four bytes is in the machine's order.
func address(t *testing.T, text string) net.IP {
	t.Helper()
	number, _, _ := strings.Cut(text, ":")
	ip, err := hex.DecodeString(number)
	if err != nil {
		t.Fatal(err)
	}
	for word := range slices.Chunk(ip, 4) {
		slices.Reverse(word) // little-endian, as amd64 and arm64 are
	}
	return ip
}
