package procwatch_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/procwatch"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/procevents"
	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// treeVariable makes the test binary a process with that many below it.
const treeVariable = "LANYARD_TEST_TREE"

func TestMain(m *testing.M) {
	if depth, err := strconv.Atoi(os.Getenv(treeVariable)); err == nil {
		if err := tree(depth); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
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
	cmd := branch(depth - 1)
	cmd.Stdin = os.Stdin
	return cmd.Run()
}

func branch(depth int) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	// A program under the race detector sleeps a second before it ends unless told otherwise.
	cmd.Env = append(os.Environ(), treeVariable+"="+strconv.Itoa(depth), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// group makes a control group named as a container's and returns its directory and the container's ID.
func group(t *testing.T) (directory, id string) {
	t.Helper()
	var b [32]byte
	_, _ = rand.Read(b[:])
	id = hex.EncodeToString(b[:])
	for _, hierarchy := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/pids"} {
		if _, err := os.Stat(filepath.Join(hierarchy, "cgroup.procs")); err != nil {
			continue
		}
		directory = filepath.Join(hierarchy, "lanyard-"+id)
		if err := os.Mkdir(directory, 0o755); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() {
			if err := os.Remove(directory); err != nil {
				t.Error(err)
			}
		})
		return directory, id
	}
	t.Skip("no control groups")
	return "", ""
}

func open(t *testing.T, o procwatch.Options) *procwatch.Watcher {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	w, err := procwatch.Open(o)
	if errors.Is(err, procwatch.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// grow starts a tree of that depth in the group and returns its first process's PID and what ends it.
func grow(t *testing.T, directory string, depth int) (first int, end func()) {
	t.Helper()
	cmd := branch(depth)
	cmd.Env = append(cmd.Env, execaudit.AuditIDName+"=id-1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	joined := os.WriteFile(filepath.Join(directory, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644)
	_, written := in.Write(make([]byte, depth))
	if err := errors.Join(joined, written); err != nil {
		t.Error(err)
	}
	return cmd.Process.Pid, func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	}
}

// following is a watcher at work.
type following struct {
	lines *bufio.Scanner
	end   func()
}

// follow begins to follow.
func follow(t *testing.T, w *procwatch.Watcher) following {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(w.Follow(ctx, out)) }()
	return following{bufio.NewScanner(in), end}
}

// until returns what is told up to the event that f accepts, or to the end.
func (w following) until(t *testing.T, f func(attribution.Event) bool) []attribution.Event {
	t.Helper()
	var batch attribution.Batch
	for w.lines.Scan() {
		if err := procevents.Decode(w.lines.Bytes(), &batch); err != nil {
			t.Fatalf("%v: %s", err, w.lines.Bytes())
		}
		if f(batch.Events[len(batch.Events)-1]) {
			return batch.Events
		}
	}
	if err := w.lines.Err(); err != nil {
		t.Fatal(err)
	}
	return batch.Events
}

func never(attribution.Event) bool { return false }

func TestFollow(t *testing.T) {
	t.Run("ATT-2 every fork, program and exit of a tree of depth 4 is told, in order", func(t *testing.T) {
		directory, id := group(t)
		w := open(t, procwatch.Options{Node: "n1", Containers: func(c string) bool { return c == id }})
		told := follow(t, w)
		const depth = 4
		first, end := grow(t, directory, depth)
		// The first one came before the test put it into the container.
		runs, ended := map[attribution.Process]attribution.Event{}, 0
		events := told.until(t, func(e attribution.Event) bool {
			if e.Kind == attribution.KindExec && e.Process.PID != first {
				runs[e.Process] = e
			}
			return len(runs) == depth
		})
		end()
		// The kernel tells of an exit after it has told the parent.
		events = append(events, told.until(t, func(e attribution.Event) bool {
			if _, ran := runs[e.Process]; ran && e.Kind == attribution.KindExit {
				ended++
			}
			return ended == depth
		})...)
		told.end()
		told.until(t, never)
		if got := w.Counts(); got.Overruns != 0 {
			t.Skipf("the machine is too busy: %+v", got)
		}
		var came []attribution.Event
		for _, e := range events {
			if e.Node != "n1" || e.ContainerID != id {
				t.Errorf("event of %q in %q", e.Node, e.ContainerID)
			}
			// Go forks once more in each process, to see whether the kernel has pidfds.
			if _, ran := runs[e.Process]; ran && e.Kind == attribution.KindFork {
				came = append(came, e)
			}
		}
		if len(came) != depth {
			t.Fatalf("%d forks", len(came))
		}
		for i, e := range came {
			run := runs[e.Process]
			if i == 0 && e.Parent.PID != first || i > 0 && e.Parent != came[i-1].Process {
				t.Errorf("process %d has the parent %+v", i, e.Parent)
			}
			if run.AuditID != "id-1" || !run.FirstImage || run.Parent != e.Parent || run.ParentOutside || run.Command != "/proc/self/exe" {
				t.Errorf("exec %+v", run)
			}
		}
	})
	t.Run("ATT-13 the kernel's mark, and what the environment claims beside it", func(t *testing.T) {
		directory, id := group(t)
		w := open(t, procwatch.Options{Node: "n1", Containers: func(c string) bool { return c == id }})
		told := follow(t, w)
		const login = "4711"
		cmd := exec.Command("sh", "-c", `echo $$ >"$0/cgroup.procs" && echo `+login+` >/proc/self/loginuid && (cat; :); cat /proc/self/sessionid`, directory)
		cmd.Env = append(os.Environ(), execaudit.AuditIDName+"=id-1", bridge.SessionName+"=s-1")
		var out strings.Builder
		cmd.Stdout = &out
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kinds, cat := map[attribution.Kind]bool{}, 0
		events := told.until(t, func(e attribution.Event) bool {
			cat = e.Process.PID
			return e.Command == "cat"
		})
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		events = append(events, told.until(t, func(e attribution.Event) bool {
			return e.Kind == attribution.KindExit && e.Process.PID == cat
		})...)
		told.end()
		session, err := strconv.ParseUint(out.String(), 10, 32)
		if err != nil {
			t.Fatalf("the kernel gave no session: %v", err)
		}
		for _, e := range events {
			kinds[e.Kind] = true
			if uint64(e.SessionID) != session || strconv.Itoa(int(e.LoginUID)) != login {
				t.Errorf("%v has the mark %d, %d, want %d, %s", e.Kind, e.SessionID, e.LoginUID, session, login)
			}
			if e.Kind == attribution.KindExec && (e.AuditID != "id-1" || e.ExecSession != "s-1") {
				t.Errorf("exec claims %q, %q", e.AuditID, e.ExecSession)
			}
		}
		if len(kinds) != 3 {
			t.Errorf("kinds %v, want three", kinds)
		}
	})
	t.Run("other containers and the host are not told", func(t *testing.T) {
		directory, _ := group(t)
		w := open(t, procwatch.Options{Containers: func(string) bool { return false }})
		told := follow(t, w)
		_, end := grow(t, directory, 1)
		end()
		told.end()
		if got := told.until(t, never); len(got) != 0 {
			t.Errorf("told %d events", len(got))
		}
	})
	t.Run("what the kernel dropped is counted", func(t *testing.T) {
		w := open(t, procwatch.Options{Node: "n1"}) // other tests' containers may be told of
		if err := procwatch.Shrink(w); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := exec.Command("true").Run(); err != nil {
				t.Fatal(err)
			}
		}
		told := follow(t, w)
		told.end()
		if told.until(t, never); w.Counts().Overruns == 0 {
			t.Errorf("Counts() = %+v after an overrun", w.Counts())
		}
	})
}
