package connector_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
)

const (
	// treeVariable makes the test binary a process with that many below it.
	treeVariable = "LANYARD_TEST_TREE"
	// threadsVariable makes it one whose first thread ends before another.
	threadsVariable = "LANYARD_TEST_THREADS"
	// markVariable has it mark itself, with this login UID, and begin anew.
	markVariable = "LANYARD_TEST_MARK"
)

func TestMain(m *testing.M) {
	if login := os.Getenv(markVariable); login != "" {
		os.Exit(marked(login))
	}
	if depth, err := strconv.Atoi(os.Getenv(treeVariable)); err == nil {
		if err := tree(depth); err != nil {
			os.Exit(1)
		}
		return
	}
	if os.Getenv(threadsVariable) != "" {
		leave()
	}
	os.Exit(m.Run())
}

// refused is the exit code of a process that may not mark itself.
const refused = 77

func marked(login string) int {
	runtime.LockOSThread()
	if os.WriteFile("/proc/thread-self/loginuid", []byte(login), 0) != nil {
		return refused
	}
	environ := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, markVariable+"=") })
	_ = unix.Exec("/proc/self/exe", os.Args, environ)
	return 1
}

// tree waits for a byte, then lets one process live below, and so on; the last waits for the end of the input.
func tree(depth int) error {
	if depth == 0 {
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), treeVariable+"="+strconv.Itoa(depth-1))
	cmd.Stdin = os.Stdin
	return cmd.Run()
}

// leave ends the first thread; another ends the process with the input.
func leave() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	for unix.Gettid() != os.Getpid() {
		runtime.LockOSThread()
		done := make(chan struct{})
		go func() { defer close(done); leave() }()
		<-done
	}
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
}

// login draws a login UID for one test, so that no other's processes are told.
func login() uint32 { return agent.MinLoginUID + rand.Uint32N(agent.MaxLoginUID-agent.MinLoginUID+1) }

// open begins to watch processes with the login UID.
func open(t *testing.T, login uint32) *connector.Reader {
	t.Helper()
	r, err := connector.Open(connector.Options{MinLoginUID: login, MaxLoginUID: login})
	if errors.Is(err, connector.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// session is a marked process.
type session struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// start starts the test binary as a marked process, and with it what the variable says.
func start(t *testing.T, login uint32, variables ...string) *session {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "an argument")
	// A program under the race detector sleeps a second before it ends unless told otherwise.
	cmd.Env = append(os.Environ(), markVariable+"="+strconv.Itoa(int(login)), "GORACE=atexit_sleep_ms=0")
	cmd.Env = append(cmd.Env, variables...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return &session{cmd, in}
}

// end ends the process's input and returns its exit code.
func (s *session) end(t *testing.T) int {
	t.Helper()
	_ = s.in.Close()
	err := s.cmd.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if s.cmd.ProcessState.ExitCode() == refused {
		t.Skip("the kernel lets no process mark itself")
	}
	return s.cmd.ProcessState.ExitCode()
}

// ended reports whether it tells the exit of the session's first process.
func (s *session) ended(o *agent.Observation) bool {
	return o.Kind == agent.KindExit && o.PID == s.cmd.Process.Pid
}

// read returns what is told up to the observation that f accepts. It copies nothing: the bytes are of the last one.
func read(t *testing.T, r *connector.Reader, f func(*agent.Observation) bool) (all []agent.Observation) {
	t.Helper()
	patience := time.AfterFunc(time.Minute, r.Interrupt)
	defer patience.Stop()
	for {
		var o agent.Observation
		if err := r.Read(&o); err != nil {
			t.Fatalf("%v, after %d observations", err, len(all))
		}
		if all = append(all, o); f(&o) {
			return all
		}
	}
}

// rest returns what was told before.
func rest(t *testing.T, r *connector.Reader) (all []agent.Observation) {
	t.Helper()
	r.Interrupt()
	for {
		var o agent.Observation
		err := r.Read(&o)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
}

// readTree reports whether every process of a tree could be read, and checks it then.
func readTree(t *testing.T, depth int) bool {
	t.Helper()
	login := login()
	r := open(t, login)
	s := start(t, login, treeVariable+"="+strconv.Itoa(depth))
	if _, err := s.in.Write(make([]byte, depth)); err != nil {
		t.Fatal(err)
	}
	runs := 0
	all := read(t, r, func(o *agent.Observation) bool {
		if o.Kind == agent.KindExec {
			runs++
		}
		return runs == 1+depth || r.Counters().Gone > 0
	})
	if code := s.end(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	all = append(all, read(t, r, s.ended)...)
	if got := r.Counters(); got.Overruns != 0 || got.Gone > 0 {
		return false
	}
	checkTree(t, all, s.cmd.Process.Pid, login, depth)
	return true
}

// readBeyond returns what is counted of two processes where one is remembered.
func readBeyond(t *testing.T) connector.Counters {
	t.Helper()
	login := login()
	r, err := connector.Open(connector.Options{MinLoginUID: login, MaxLoginUID: login, MaxProcesses: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := start(t, login, treeVariable+"=1")
	ran := func(o *agent.Observation) bool { return o.Kind == agent.KindExec || r.Counters().Gone > 0 }
	read(t, r, ran)
	if _, err := s.in.Write(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	read(t, r, ran)
	s.end(t)
	rest(t, r)
	return r.Counters()
}

// again calls once until it says that it was in time: on a busy machine a process may be gone before it is read.
func again(t *testing.T, once func() bool) {
	t.Helper()
	const tries = 100
	for range tries {
		if once() {
			return
		}
	}
	t.Errorf("%d times a process was gone before it was read", tries)
}

func TestRead(t *testing.T) {
	t.Run("ATT-2 AGT-4 every fork, program and exit of a marked tree of depth 4 is told, in order", func(t *testing.T) {
		again(t, func() bool { return readTree(t, 4) })
	})
	t.Run("AGT-4 what a program is told with", func(t *testing.T) {
		login := login()
		r := open(t, login)
		s := start(t, login, treeVariable+"=0")
		read(t, r, func(o *agent.Observation) bool {
			if o.Kind != agent.KindExec {
				return false
			}
			if args := o.Args.Reveal(); string(args) != "/proc/self/exe\x00an argument\x00" || o.ArgsCut {
				t.Errorf("arguments %q, cut %v", args, o.ArgsCut)
			}
			if !bytes.Contains(o.Env.Reveal(), []byte("\x00"+treeVariable+"=0\x00")) {
				t.Error("the environment has not the test's variable")
			}
			if self, err := os.Executable(); err != nil || o.File != self {
				t.Errorf("file %q, want %q, %v", o.File, self, err)
			}
			return true
		})
		s.end(t)
	})
	t.Run("ATT-2 AGT-4 a process ends with its last thread, with its own exit code", func(t *testing.T) {
		login := login()
		r := open(t, login)
		s := start(t, login, threadsVariable+"=1")
		// Its fork was before its mark, so its threads were not counted.
		read(t, r, func(o *agent.Observation) bool { return o.Kind == agent.KindExec })
		for told := 0; told == 0; { // its first thread is gone
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/stat")
			if err != nil {
				t.Fatal(err)
			}
			told = strings.Count(string(stat), ") Z ")
		}
		for _, o := range rest(t, r) {
			if s.ended(&o) {
				t.Error("it is told to have ended with its first thread")
			}
		}
		if code := s.end(t); code != 3 {
			t.Fatalf("exit code %d", code)
		}
		read(t, r, func(o *agent.Observation) bool { return s.ended(o) && o.Status == 3<<8 })
	})
	t.Run("AGT-4 the exit of one that ran before is told, as it was found", func(t *testing.T) {
		login := login()
		s := start(t, login, treeVariable+"=1")
		for {
			text, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/loginuid")
			if err != nil || len(text) == 0 {
				s.end(t)
				t.Fatal("it ended: ", err)
			}
			if string(text) == strconv.Itoa(int(login)) {
				break
			}
		}
		r := open(t, login)
		_, _ = s.in.Write([]byte{0})
		s.end(t)
		all := read(t, r, s.ended)
		last := all[len(all)-1]
		if last.SessionID == 0 || last.LoginUID != login || last.Parent != (agent.Task{}) || last.Start == 0 {
			t.Errorf("told %+v", last)
		}
	})
	t.Run("AGT-4 processes without a mark of the range are not told", func(t *testing.T) {
		login := login()
		r := open(t, login)
		start(t, login^1, treeVariable+"=0").end(t)
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
		if got := rest(t, r); len(got) != 0 {
			t.Errorf("told %+v", got)
		}
	})
	t.Run("AGT-2 AGT-4 what the kernel dropped is counted", func(t *testing.T) {
		r := open(t, login())
		if err := connector.Shrink(r); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := exec.Command("true").Run(); err != nil {
				t.Fatal(err)
			}
		}
		if rest(t, r); r.Counters().Overruns == 0 {
			t.Errorf("Counters() = %+v after an overrun", r.Counters())
		}
	})
	t.Run("AGT-2 AGT-4 processes of a session beyond the bound are counted", func(t *testing.T) {
		open(t, login()) // skips
		again(t, func() bool { return readBeyond(t).Forgotten > 0 })
	})
	t.Run("AGT-4 Interrupt ends one Read, and Close the one that runs", func(t *testing.T) {
		r := open(t, login())
		var o agent.Observation
		for range 3 {
			ended := make(chan error)
			go func() { ended <- r.Read(&o) }()
			r.Interrupt()
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
		}
		r, err := connector.Open(connector.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			for {
				if err := r.Read(&o); err != nil {
					ended <- err
					return
				}
			}
		}()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, os.ErrClosed) {
			t.Errorf("Read = %v, want %v", err, os.ErrClosed)
		}
	})
	t.Run("AGT-4 what cannot be seen is said", func(t *testing.T) {
		if said := strings.Join(open(t, login()).Blind(), "\n"); !strings.Contains(said, "CLONE_PARENT") {
			t.Errorf("Blind() = %q", said)
		}
	})
	t.Run("AGT-4 another network namespace has no proc connector", func(t *testing.T) {
		failed := make(chan error)
		go func() {
			runtime.LockOSThread() // and thrown away
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				failed <- err
				return
			}
			_, err := connector.Open(connector.Options{})
			failed <- err
		}()
		err := <-failed
		if errors.Is(err, os.ErrPermission) {
			t.Skip(err)
		}
		if !errors.Is(err, connector.ErrUnsupported) {
			t.Errorf("Open = %v, want %v", err, connector.ErrUnsupported)
		}
	})
}

// checkTree checks what was told of a process that marked itself and then had so many below it, each the parent of the
// next.
func checkTree(t *testing.T, all []agent.Observation, first int, login uint32, depth int) {
	t.Helper()
	session, last := all[0].SessionID, agent.Task{}
	kinds := map[agent.Task][]agent.Kind{}
	for _, o := range all {
		kinds[o.Task] = append(kinds[o.Task], o.Kind)
		if o.Origin != agent.OriginConnector || o.SessionID != session || o.LoginUID != login || o.Cgroup == "" ||
			o.InnerPID != o.PID || o.At < o.Start || o.UID != uint32(os.Getuid()) || o.EGID != uint32(os.Getegid()) {
			t.Errorf("told %+v", o)
		}
		if o.Kind != agent.KindExec {
			continue
		}
		if o.MountNS == 0 || o.PIDNS == 0 {
			t.Errorf("told %+v", o)
		}
		if o.PID != first && o.Parent != last || o.PID == first && o.Parent != (agent.Task{}) {
			t.Errorf("process %+v has the parent %+v, want %+v", o.Task, o.Parent, last)
		}
		last = o.Task
	}
	runs := 0
	for task, got := range kinds {
		want := []agent.Kind{agent.KindFork, agent.KindExec, agent.KindExit}
		switch {
		case task.PID == first:
			want = want[1:]
		case !slices.Contains(got, agent.KindExec):
			continue // Go forks once more in each process, to see whether the kernel has pidfds.
		}
		if runs++; !slices.Equal(got, want) {
			t.Errorf("process %+v was told to have done %v", task, got)
		}
	}
	if runs != 1+depth {
		t.Errorf("%d processes ran a program, want %d", runs, 1+depth)
	}
}
