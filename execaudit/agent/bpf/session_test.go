//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/redact"
)

// patience bounds a wait for what must happen.
const patience = time.Minute

// roleVar makes the test's own binary something else: a role, and after a colon what it needs.
const roleVar = "LANYARD_BPF_TEST_ROLE"

func TestMain(m *testing.M) {
	role, argument, _ := strings.Cut(os.Getenv(roleVar), ":")
	if role == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv(roleVar)
	runtime.LockOSThread()
	play := map[string]func(string) error{
		"mark": mark, "bare": bare, "owned": owned, "reader": reader, "reduced": reduced, "watch": watch,
	}[role]
	if err := play(argument); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(125)
	}
	os.Exit(0)
}

func setMark(uid string) error { return os.WriteFile("/proc/thread-self/loginuid", []byte(uid), 0) }

// mark takes a mark and becomes what the arguments name.
func mark(uid string) error {
	if err := setMark(uid); err != nil {
		return err
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// bare takes a mark and executes a program without any arguments, not even its name.
func bare(uid string) error {
	if err := setMark(uid); err != nil {
		return err
	}
	path, err := syscall.BytePtrFromString("/bin/true")
	if err != nil {
		return err
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(path)), 0, 0)
	return errno
}

// owned takes a mark, gives itself IDs that differ from each other, and becomes what the arguments name.
func owned(uid string) error {
	if err := setMark(uid); err != nil {
		return err
	}
	_, _, gid := syscall.RawSyscall(syscall.SYS_SETRESGID, 2001, 2002, 2003)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 1001, 1002, 1003)
	if gid != 0 || errno != 0 {
		return errors.Join(gid, errno)
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// privateUID returns a login UID that no other test marks with, nor with one of the next seven; outside of the bridge's
// range.
func privateUID() uint32 { return 1_000_000_000 + 8*rand.Uint32N(100_000_000) }

// watched are the programs that look at a login UID of the test's own alone.
type watched struct {
	*bpf.Programs
	t   testing.TB
	uid uint32
}

// kinds are the programs that a test tries: those of this kernel, those that must do with less, and the same, raw.
var kinds = []struct {
	name  string
	load  func(bpf.Options) (*bpf.Programs, error)
	raw   bool
	inner bool // PIDs in other namespaces are told
}{
	{"", bpf.Load, false, true},
	{", raw tracepoints", bpf.Load, true, true},
	{", older kernel", bpf.LoadOld, false, true},
	{", older kernel, raw tracepoints", bpf.LoadOld, true, true},
	{", older kernel, locked down", bpf.LoadLocked, false, false},
}

func load(t testing.TB, o bpf.Options) *watched { return loadBy(t, bpf.Load, o) }

func loadBy(t testing.TB, load func(bpf.Options) (*bpf.Programs, error), o bpf.Options) *watched {
	t.Helper()
	if o.MinLoginUID == 0 {
		o.MinLoginUID = privateUID()
		o.MaxLoginUID = o.MinLoginUID
	}
	p, err := load(o)
	if errors.Is(err, unix.EPERM) || errors.Is(err, bpf.ErrUnsupported) {
		t.Skipf("the programs cannot be loaded here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return &watched{p, t, o.MinLoginUID}
}

// command returns a process of the role "mark". The test made it before it was marked: its fork is not told.
func (w *watched) command(args ...string) *exec.Cmd { return w.play("mark", "", args...) }

func (w *watched) play(role, argument string, args ...string) *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d%s", roleVar, role, w.uid, argument))
	cmd.Stderr = os.Stderr
	return cmd
}

// run runs a marked process and returns all that was told of it and its descendants, once all are gone.
func (w *watched) run(cmd *exec.Cmd) []agent.Observation {
	w.t.Helper()
	if err := cmd.Run(); err != nil {
		w.t.Fatal(err)
	}
	return w.drain()
}

// drain returns what the ring has, and tells that it was told.
func (w *watched) drain() []agent.Observation {
	w.t.Helper()
	w.SetDeadline(time.Now().Add(-time.Second))
	var all []agent.Observation
	for {
		o, err := w.next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			w.Told(w.Position(), 0)
			return all
		}
		if err != nil {
			w.t.Fatalf("after %d events: %v", len(all), err)
		}
		all = append(all, o)
	}
}

// next returns a copy of the next event.
func (w *watched) next() (o agent.Observation, err error) {
	err = w.Read(&o)
	o.Args = redact.NewBytes([]byte(string(o.Args.Reveal())))
	o.Env = redact.NewBytes([]byte(string(o.Env.Reveal())))
	return o, err
}

// execs returns the execs among the events.
func execs(all []agent.Observation) []agent.Observation {
	var some []agent.Observation
	for _, o := range all {
		if o.Kind == agent.KindExec {
			some = append(some, o)
		}
	}
	return some
}
