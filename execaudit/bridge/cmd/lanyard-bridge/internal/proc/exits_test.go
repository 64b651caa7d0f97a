//go:build linux

package proc_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
)

func watch(t *testing.T) *proc.Exits {
	t.Helper()
	e, err := proc.NewExits(fs)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExits(t *testing.T) {
	t.Run("BRG-3 the end of a process is told with its code", func(t *testing.T) {
		for name, reader := range map[string]func(*proc.Exits){"from its zombie": func(*proc.Exits) {}, "from its pidfd": proc.WithoutPtrace} {
			e := watch(t)
			reader(e)
			for _, code := range []int{0, 7, 255, -9} {
				m := startMarked(t, bridge.MinLoginUID)
				ticks := fs.Identity(m.Process.Pid)
				if err := e.Watch(m.Process.Pid, ticks); err != nil {
					t.Fatal(err)
				}
				want := code
				if code < 0 {
					want = 128 - code
					_ = m.Process.Kill()
				} else {
					m.end(t, code)
				}
				waited := make(chan struct{})
				go func() { _ = m.Wait(); close(waited) }()
				exit := <-e.Ended()
				<-waited
				if exit.PID != m.Process.Pid || exit.StartTicks != ticks || exit.Code == nil || *exit.Code != want {
					if exit.Code == nil && !pidfdTells() {
						t.Logf("%s: the kernel is older than 6.15 and tells no code", name)
						continue
					}
					t.Errorf("%s: Exit = %+v, want code %d", name, exit, want)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("ATT-14 an end is timed while no other process can have the PID, or not at all", func(t *testing.T) {
		e := watch(t)
		first, second := startMarked(t, bridge.MinLoginUID), startMarked(t, bridge.MinLoginUID)
		for _, m := range []*marked{first, second} {
			if err := e.Watch(m.Process.Pid, fs.Identity(m.Process.Pid)); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		first.end(t, 0)
		for proc.Watched(e) == 2 { // then it is about to tell of the first, and looks at no other until that is taken
			runtime.Gosched()
		}
		second.end(t, 0)
		_ = second.Wait()
		exit := <-e.Ended()
		if told := time.Now(); exit.Seen.Before(began) || exit.Seen.After(told) {
			t.Errorf("a process that nobody reaped ended at %v, want from %v to %v", exit.Seen, began, told)
		}
		_ = first.Wait()
		if exit := <-e.Ended(); exit.PID != second.Process.Pid || !exit.Seen.IsZero() {
			t.Errorf("Exit = %+v of %d, whose PID was free before anybody looked", exit, second.Process.Pid)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("BRG-3 another process of the same PID is not watched", func(t *testing.T) {
		e := watch(t)
		if err := e.Watch(os.Getpid(), 1); !errors.Is(err, proc.ErrNoProcess) {
			t.Errorf("Watch = %v", err)
		}
		if err := e.Watch(1<<22, 1); !errors.Is(err, proc.ErrNoProcess) {
			t.Errorf("Watch = %v", err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("BRG-3 nothing is left open by one that watches", func(t *testing.T) {
		count := func() int {
			entries, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Fatal(err)
			}
			return len(entries)
		}
		m := startMarked(t, bridge.MinLoginUID)
		before := count()
		e := watch(t)
		if err := e.Watch(m.Process.Pid, fs.Identity(m.Process.Pid)); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if after := count(); after != before {
			t.Errorf("%d descriptors open, %d before", after, before)
		}
	})
}

// pidfdTells reports whether the kernel gives exit codes through pidfds.
func pidfdTells() bool {
	release, err := exec.Command("uname", "-r").Output()
	if err != nil {
		return false
	}
	parts := strings.SplitN(string(release), ".", 3)
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major > 6 || major == 6 && minor >= 15
}
