//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
)

// reduced gives up every capability but those whose numbers follow the UID, for good, and goes on as "watch" in a
// program of its own, where all threads are so.
func reduced(argument string) error {
	uid, rest, _ := strings.Cut(argument, ":")
	dir, numbers, _ := strings.Cut(rest, ":")
	// Being root gives nothing any more.
	const noRoot = 1<<0 | 1<<1 | 1<<2 | 1<<3 // SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP and their locks
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil {
		return err
	}
	var keep uint64
	for _, n := range strings.Fields(numbers) {
		bit, err := strconv.Atoi(n)
		if err != nil {
			return err
		}
		keep |= 1 << bit
	}
	for bit := range uintptr(unix.CAP_LAST_CAP + 1) {
		if keep&(1<<bit) == 0 {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, bit, 0, 0, 0); err != nil {
				return err
			}
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for i := range data {
		word := uint32(keep >> (32 * i))
		data[i] = unix.CapUserData{Effective: word, Permitted: word, Inheritable: word}
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return err
	}
	for bit := range uintptr(unix.CAP_LAST_CAP + 1) {
		if keep&(1<<bit) != 0 {
			if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, bit, 0, 0); err != nil {
				return err
			}
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, []string{self}, append(os.Environ(), fmt.Sprintf("%s=watch:%s:%s", roleVar, uid, dir)))
}

// watch says what capabilities it has, loads the programs, says so, and tells the first exec it sees.
func watch(argument string) error {
	uid, dir, _ := strings.Cut(argument, ":")
	n, err := strconv.ParseUint(uid, 10, 32)
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, effective, _ := strings.Cut(string(status), "CapEff:\t")
	effective, _, _ = strings.Cut(effective, "\n")
	p, err := bpf.Load(bpf.Options{PinDir: dir, MinLoginUID: uint32(n), MaxLoginUID: uint32(n)})
	switch {
	case errors.Is(err, unix.EPERM):
		fmt.Println(effective, "EPERM")
		return nil
	case err != nil:
		return err
	}
	fmt.Println(effective, "loaded")
	p.SetDeadline(time.Now().Add(patience))
	var o agent.Observation
	for o.Kind != agent.KindExec {
		if err := p.Read(&o); err != nil {
			return err
		}
	}
	p.Told(p.Position(), 0)
	c, err := p.Counters()
	fmt.Printf("%s %q %d\n", o.File, o.Args.Reveal(), c.Lost())
	return errors.Join(err, p.Close())
}

func TestRights(t *testing.T) {
	w := load(t, bpf.Options{}) // else there is nothing to give up
	for _, pinned := range []bool{false, true} {
		t.Run(fmt.Sprintf("AGT-7 CAP_BPF and CAP_PERFMON suffice, pinned %v", pinned), func(t *testing.T) {
			dir := ""
			if pinned {
				dir = bpffs(t)
			}
			for range 2 { // the second takes what the first left pinned
				cmd := w.play("reduced", fmt.Sprintf(":%s:%d %d", dir, unix.CAP_BPF, unix.CAP_PERFMON))
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				var capabilities uint64
				var said, file, args, lost string
				if _, err := fmt.Fscanf(out, "%x %s\n", &capabilities, &said); err != nil || said != "loaded" {
					t.Errorf("said %q, %v", said, err)
				} else if err := w.command("/bin/true", "x").Run(); err != nil {
					t.Error(err)
				} else if _, err := fmt.Fscanf(out, "%s %s %s\n", &file, &args, &lost); err != nil {
					t.Error(err)
				}
				if err := cmd.Wait(); err != nil {
					t.Fatal(err)
				}
				if capabilities != 1<<unix.CAP_BPF|1<<unix.CAP_PERFMON {
					t.Errorf("capabilities are %#x", capabilities)
				}
				if file != "/bin/true" || args != `"/bin/true\x00x\x00"` || lost != "0" {
					t.Errorf("told %s %s, %s lost", file, args, lost)
				}
			}
		})
	}
	for name, capability := range map[string]int{"CAP_BPF": unix.CAP_BPF, "CAP_PERFMON": unix.CAP_PERFMON} {
		t.Run("AGT-4 "+name+" alone is refused, and said to be", func(t *testing.T) {
			out, err := w.play("reduced", fmt.Sprintf("::%d", capability)).Output()
			if err != nil || !strings.HasSuffix(string(out), "EPERM\n") {
				t.Errorf("said %q, %v", out, err)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	load(t, bpf.Options{})
	names := func(findings []bpf.Finding, ok bool) (some []string) {
		for _, f := range findings {
			if (f.Err == nil) == ok {
				some = append(some, f.Name)
			}
		}
		return some
	}
	t.Run("AGT-4 what this node allows is found, item by item", func(t *testing.T) {
		dir := bpffs(t)
		findings := bpf.Probe(dir)
		if missing := names(findings, false); len(missing) != 0 {
			t.Errorf("missing %q: %+v", missing, findings)
		}
		if entries, err := exec.Command("ls", dir).Output(); err != nil || len(entries) != 0 {
			t.Errorf("left are %s, %v", entries, err)
		}
	})
	t.Run("AGT-4 a directory that cannot hold pins is found", func(t *testing.T) {
		findings := bpf.Probe(t.TempDir())
		if last := findings[len(findings)-1]; !errors.Is(last.Err, bpf.ErrNotBPFFS) || !last.Optional {
			t.Errorf("found %+v", last)
		}
		if missing := names(findings, false); !slices.Equal(missing, []string{findings[len(findings)-1].Name}) {
			t.Errorf("missing %q", missing)
		}
	})
}
