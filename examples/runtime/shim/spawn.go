package shim

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// detached is a process that the low-level runtime started and left behind.
type detached struct {
	pid int
	identity
	exit <-chan exit
}

// spawner runs the low-level runtime.
type spawner struct {
	dir    string
	spec   monitor.Spec
	reaper *reaper
}

// detach runs one command that writes a pid file (`run` or `exec`) with the given standard streams and, unless it is
// empty, the file that holds a raw environment, and returns the process it left. The error of a command that did not
// start one is the low-level runtime's own last log line.
func (s spawner) detach(files []*os.File, rawEnv, verb string, args ...string) (detached, error) {
	if rawEnv != "" {
		more, err := rawFiles(rawEnv)
		if err != nil {
			return detached{}, err
		}
		defer closeAll(more)
		files = append(files[:len(files):len(files)], more...)
		args = append([]string{"--preserve-fds", strconv.Itoa(len(more))}, args...)
	}
	name := filepath.Join(s.dir, "spawn-"+rand.Text())
	pidFile, log := name+".pid", name+".log"
	defer os.Remove(pidFile)
	defer os.Remove(log)
	done := s.reaper.spawning()
	defer done()

	argv := append([]string{"--root", s.spec.RuncRoot, "--log", log, "--log-format", "json", verb, "--detach", "--pid-file", pidFile}, args...)
	code, err := s.run(files, argv...)
	if err != nil {
		return detached{}, err
	}
	if code != 0 {
		return detached{}, fmt.Errorf("OCI runtime %s failed: %s", verb, lastError(log, code))
	}
	pid, err := readPid(pidFile)
	if err != nil {
		return detached{}, err
	}
	exited, who := s.reaper.await(pid)
	return detached{pid: pid, identity: who, exit: exited}, nil
}

// run runs the low-level runtime to its end and returns its exit code.
func (s spawner) run(files []*os.File, args ...string) (int, error) {
	done := s.reaper.spawning()
	defer done()
	pid, err := syscall.ForkExec(s.spec.Runc, append([]string{s.spec.Runc}, args...), &syscall.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: fds(files),
	})
	if err != nil {
		return 0, &os.PathError{Op: "exec", Path: s.spec.Runc, Err: err}
	}
	exited, _ := s.reaper.await(pid)
	return (<-exited).code, nil
}

func readPid(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

// lastError returns the message of the last error line that runc logged, at most 2 KiB of it.
func lastError(path string, code int) string {
	msg := fmt.Sprintf("exit code %d", code)
	f, err := os.Open(path)
	if err != nil {
		return msg
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var entry struct{ Level, Msg string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && (entry.Level == "error" || entry.Level == "fatal") {
			msg = entry.Msg
		}
	}
	return msg[:min(len(msg), 2<<10)]
}
