package runtime_test

import (
	"os"
	"path/filepath"
	gort "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// TestRestart stops the runtime while a container runs, and starts it again.
func TestRestart(t *testing.T) {
	config := newConfig(t)
	first := serve(t, config)
	ref := push(t, testimage.Spec{})
	first.Pull(t, ref)
	pod := first.RunPod(t, ownNetwork)
	ends := pod.Start(t, ref, cmd("term", "9"))
	waitForLog(t, ends, "waiting")
	goes := pod.Start(t, ref, cmd("sleep"), func(c *runtimeapi.ContainerConfig) { c.Labels = map[string]string{"a": "b"} })
	orphan := pod.Start(t, ref, cmd("sleep"))
	never := pod.Create(t, ref, cmd("exit", "0"))
	before := goes.Status(t)
	goes.MustExec(t, &runtimetest.Session{Cmd: cmd("print", "x", "", "7")})
	first.stop()
	t.Run("ATT-11 a runtime that stops has written the end of a session that it answered", func(t *testing.T) {
		records := readJournal(t, filepath.Join(config.Root, "exec-journal.jsonl"))
		if end := records[len(records)-1]; len(records) != 3 || end.ExitCode == nil || *end.ExitCode != 7 {
			t.Errorf("records = %+v, want the last an end with exit code 7", records)
		}
	})

	endWhileAway(t, config.Root, ends)
	killMonitor(t, config.Root, orphan)
	second := serve(t, config)
	pod.Node = second.Node
	t.Run("STK-2 what ran, runs, with the same status, and takes exec sessions", func(t *testing.T) {
		if got := goes.Status(t); got.String() != before.String() {
			t.Errorf("status = %v, want %v", got, before)
		}
		reported(t, goes, &runtimetest.Session{Cmd: cmd(), TTY: true})
	})
	t.Run("STK-2 what ended meanwhile has its exit code and its log", func(t *testing.T) {
		if got := ends.Status(t); got.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED || got.GetExitCode() != 9 {
			t.Errorf("status = %v, want exit code 9", got)
		}
		waitForLog(t, ends, "waiting")
	})
	t.Run("STK-2 a container whose monitor was killed is not left running", func(t *testing.T) {
		if got := orphan.Ended(t); got.GetReason() != "Unknown" || got.GetExitCode() != 255 || len(cgroups(t, orphan.ID)) > 0 {
			t.Errorf("status = %v, cgroups %v", got, cgroups(t, orphan.ID))
		}
	})
	t.Run("STK-2 what was only created can be started", func(t *testing.T) {
		if err := never.Start(t); err != nil {
			t.Fatal(err)
		}
		if got := never.Ended(t); got.GetExitCode() != 0 {
			t.Errorf("status = %v", got)
		}
	})
	t.Run("STK-2 the directory is one runtime's", func(t *testing.T) {
		if _, err := start(config); err == nil {
			t.Error("a second runtime started")
		}
	})
	t.Run("STK-2 nothing is left", func(t *testing.T) {
		checkNoLeak(t, config.Root, func() { pod.Remove(t) })
	})
}

// endWhileAway sends the container's process SIGTERM with no runtime there, and waits until its monitor has noted the
// end.
func endWhileAway(t *testing.T, root string, c *runtimetest.Container) {
	t.Helper()
	dir := filepath.Join(root, "containers", c.ID)
	phase, err := monitor.Read(dir)
	if err != nil || phase.Started == nil {
		t.Fatalf("phase = %+v, %v", phase, err)
	}
	if err := unix.Kill(phase.Started.Pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	runtimetest.Eventually(t, "the monitor has noted the end", func() bool {
		phase, err := monitor.Read(dir)
		return err == nil && phase.Exited != nil
	})
}

// killMonitor kills the process whose command line ends with the container's directory.
func killMonitor(t *testing.T, root string, c *runtimetest.Container) {
	t.Helper()
	dir := filepath.Join(root, "containers", c.ID)
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		b, err := os.ReadFile(p + "/cmdline")
		if err != nil || len(b) < len(dir)+1 || string(b[len(b)-len(dir)-1:]) != dir+"\x00" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(p))
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	runtimetest.Eventually(t, "the monitor is gone", func() bool { return commandsWith(t, dir) == 0 })
}

// TestSignals has what a container's processes inherit.
func TestSignals(t *testing.T) {
	config := newConfig(t)
	n := serve(t, config)
	c := startSleeper(t, n.Node)
	t.Run("STK-2 no signal is ignored in a container because its monitor ignores it", func(t *testing.T) {
		phase, err := monitor.Read(filepath.Join(config.Root, "containers", c.ID))
		if err != nil || phase.Started == nil {
			t.Fatalf("phase = %+v, %v", phase, err)
		}
		parent := statusOf(t, phase.Started.Pid, "PPid")
		above, err := strconv.Atoi(parent)
		if err != nil {
			t.Fatal(err)
		}
		for name, pid := range map[string]int{"the container's first process": phase.Started.Pid, "its monitor": above} {
			ignored, err := strconv.ParseUint(statusOf(t, pid, "SigIgn"), 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGPIPE} {
				if ignored&(1<<(s-1)) != 0 {
					t.Errorf("%s ignores %v", name, s)
				}
			}
		}
	})
}

// statusOf is a value of /proc/PID/status.
func statusOf(t *testing.T, pid int, key string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if name, value, _ := strings.Cut(line, ":"); name == key {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no %s in the status of %d", key, pid)
	return ""
}

// TestHundred runs a hundred containers through their lives, eight at a time.
func TestHundred(t *testing.T) {
	config := newConfig(t)
	n := serve(t, config)
	ref := push(t, testimage.Spec{})
	n.Pull(t, ref)
	pod := n.RunPod(t, ownNetwork)
	t.Run("STK-2 a hundred containers come and go and leave nothing", func(t *testing.T) {
		files, routines := openFiles(t), gort.NumGoroutine()
		var wg sync.WaitGroup
		turn := make(chan struct{}, 8)
		for i := range 100 {
			wg.Go(func() {
				turn <- struct{}{}
				defer func() { <-turn }()
				c := pod.Start(t, ref, cmd("sleep"))
				if i%10 == 0 {
					c.MustExec(t, &runtimetest.Session{Cmd: cmd()})
				}
				if _, err := n.RemoveContainer(runtimetest.Context(t), &runtimeapi.RemoveContainerRequest{ContainerId: c.ID}); err != nil {
					t.Error(err)
				}
				if left := cgroups(t, c.ID); len(left) > 0 {
					t.Errorf("cgroups %v are left", left)
				}
			})
		}
		wg.Wait()
		runtimetest.Eventually(t, "files and goroutines are back where they were", func() bool {
			return openFiles(t) <= files && gort.NumGoroutine() <= routines
		})
		checkNoLeak(t, config.Root, func() { pod.Remove(t) })
	})
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
