//go:build linux

package proc_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
)

const markVariable = "LANYARD_TEST_MARK"

// TestMain is the marked process, too: it marks itself, says so, and ends when its standard input does.
func TestMain(m *testing.M) {
	if login := os.Getenv(markVariable); login != "" {
		runtime.LockOSThread()
		if err := os.WriteFile("/proc/thread-self/loginuid", []byte(login), 0); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		session, err := os.ReadFile("/proc/thread-self/sessionid")
		if err == nil {
			err = syscall.Exec("/bin/sh", []string{"sh", "-c", "echo " + string(session) + "; read code; exit $code", "two words"}, os.Environ())
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// marked is a process with a mark.
type marked struct {
	*exec.Cmd
	in      io.WriteCloser
	session uint32
}

func startMarked(t *testing.T, login uint32) *marked {
	t.Helper()
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", markVariable, login))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	session, err := strconv.ParseUint(strings.TrimSpace(line), 10, 32)
	if err != nil {
		t.Fatalf("the kernel does not mark: %s", line)
	}
	return &marked{c, in, uint32(session)}
}

func (m *marked) end(t *testing.T, code int) {
	t.Helper()
	if _, err := fmt.Fprintln(m.in, code); err != nil {
		t.Fatal(err)
	}
}

var fs = proc.FS{Root: "/proc"}

func TestSessions(t *testing.T) {
	t.Run("BRG-3 a session's processes are found by the kernel's mark", func(t *testing.T) {
		a, b := startMarked(t, bridge.MinLoginUID), startMarked(t, bridge.MinLoginUID)
		found, err := fs.Sessions(func(s uint32) bool { return s == a.session || s == b.session })
		if err != nil || len(found) != 2 || !slices.Equal(found[a.session], []int{a.Process.Pid}) || !slices.Equal(found[b.session], []int{b.Process.Pid}) {
			t.Errorf("Sessions = %v, %v, want %d: %d, %d: %d", found, err, a.session, a.Process.Pid, b.session, b.Process.Pid)
		}
		session, login, err := fs.Mark(a.Process.Pid)
		if session != a.session || login != bridge.MinLoginUID || err != nil {
			t.Errorf("Mark = %d, %d, %v", session, login, err)
		}
		argv, err := fs.Argv(a.Process.Pid)
		if err != nil || argv[0] != "sh" || argv[3] != "two words" {
			t.Errorf("Argv = %q, %v", argv, err)
		}
		task, err := fs.Task(a.Process.Pid)
		if err != nil || task.PPID != os.Getpid() || task.Command != "sh" || task.Zombie || task.Levels != 1 || task.Cgroup == "" || task.StartTicks != fs.Identity(a.Process.Pid) {
			t.Errorf("Task = %+v, %v", task, err)
		}
	})
	t.Run("BRG-3 a process that is not there", func(t *testing.T) {
		if _, err := fs.Task(1 << 22); !errors.Is(err, proc.ErrNoProcess) {
			t.Errorf("Task = %v", err)
		}
		if _, _, err := fs.Mark(1 << 22); !errors.Is(err, proc.ErrNoProcess) {
			t.Errorf("Mark = %v", err)
		}
		if fs.Identity(1<<22) != 0 {
			t.Error("it has an identity")
		}
	})
	t.Run("BRG-3 the boot has an ID", func(t *testing.T) {
		if id, err := fs.BootID(); err != nil || len(id) != 36 {
			t.Errorf("BootID = %q, %v", id, err)
		}
	})
}
