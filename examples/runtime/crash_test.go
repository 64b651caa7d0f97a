package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/soak"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// daemon is our runtime as a process of its own, which can be killed.
type daemon struct {
	config  runtime.Config
	program []string // and what comes before it on the command line
	flags   []string // more of them
	cmd     *exec.Cmd
	node    *runtimetest.Node
}

func newDaemon(t testing.TB) *daemon {
	t.Helper()
	d := &daemon{config: newConfig(t), program: parts.Need(t, "lanyard-runtime")}
	t.Cleanup(func() { d.kill(t) })
	return d
}

// start starts the runtime and waits until it answers.
func (d *daemon) start(t testing.TB) {
	t.Helper()
	args := append(d.program[1:len(d.program):len(d.program)],
		"--root", d.config.Root, "--socket", d.config.Socket, "--runc", d.config.Runc, "--monitor", d.config.Monitor)
	args = append(args, d.flags...)
	d.cmd = exec.Command(d.program[0], args...)
	d.cmd.Stderr = os.Stderr
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if d.node == nil {
		d.node = runtimetest.Dial(t, d.config.Socket)
	}
	awaitAnswer(t, d.node)
}

func (d *daemon) kill(t testing.TB) {
	t.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.cmd.Wait()
}

// crashLoad is what goes on while the runtime is killed again and again, and what came of it.
type crashLoad struct {
	node    *runtimetest.Node
	pod     *runtimetest.Pod
	sleeper *runtimetest.Container
	image   string

	mu      sync.Mutex
	seen    map[string]bool // audit IDs of exec sessions whose output reached the client
	started map[string]int  // containers whose start was confirmed, with the exit code they were told
}

// crashKills is how often the runtime is killed.
var crashKills = soak.Size(15, 50)

// TestCrash kills the runtime at random moments of its work.
func TestCrash(t *testing.T) {
	d := newDaemon(t)
	d.start(t)
	ref := push(t, testimage.Spec{})
	d.node.Pull(t, ref)
	pod := d.node.RunPod(t)
	l := &crashLoad{
		node: d.node, pod: pod, sleeper: pod.Start(t, ref, cmd("sleep")), image: ref,
		seen: map[string]bool{}, started: map[string]int{},
	}
	asked := l.sleeper.Status(t)
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for i := range 2 {
		load.Go(func() { l.execs(ctx, i) })
	}
	load.Go(func() { l.containers(ctx, t) })
	load.Go(func() { l.pulls(ctx, t) })

	moments := rand.New(rand.NewPCG(6035, 3619))
	for round := range crashKills {
		time.Sleep(time.Duration(20+moments.IntN(400)) * time.Millisecond)
		if round%3 == 0 {
			// On a slow machine all random moments may be too early.
			l.progress(t)
		}
		d.kill(t)
		d.start(t)
	}
	cancel()
	load.Wait()
	d.kill(t)
	d.start(t)
	t.Logf("%d sessions seen, %d containers started", len(l.seen), len(l.started))
	if len(l.seen) < crashKills/5 || len(l.started) < crashKills/10 {
		t.Error("there was hardly any load: the test proves nothing")
	}

	t.Run("STK-2 a container that ran through it all is as it was", func(t *testing.T) {
		got := l.sleeper.Status(t)
		if got.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING || got.GetStartedAt() != asked.GetStartedAt() {
			t.Errorf("status = %v, want %v", got, asked)
		}
		runtimetest.Eventually(t, "only its own process is left", func() bool { return len(processes(t, l.sleeper)) == 1 })
	})
	t.Run("STK-2 every container's status is true", func(t *testing.T) { l.checkContainers(t) })
	t.Run("ATT-11 every session that ran is in the journal, from intent to end", func(t *testing.T) {
		checkJournal(t, filepath.Join(d.config.Root, "exec-journal.jsonl"), l.seen)
	})
	t.Run("STK-2 nothing is left when the pod is removed", func(t *testing.T) {
		checkNoLeak(t, d.config.Root, func() { l.pod.Remove(t) })
	})
}

// progress waits until another session was seen.
func (l *crashLoad) progress(t *testing.T) {
	t.Helper()
	seen := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.seen)
	}
	before := seen()
	runtimetest.Eventually(t, "a session was seen", func() bool { return seen() > before })
}

// execs opens sessions that report their audit ID.
func (l *crashLoad) execs(ctx context.Context, worker int) {
	for i := 0; ctx.Err() == nil; i++ {
		id := fmt.Sprintf("crash-%d-%d", worker, i)
		s := &runtimetest.Session{Cmd: cmd(), Env: auditID(id), TTY: worker == 1}
		// A client of SPDY may wait half a minute for an answer from a server that was killed.
		short, cancel := context.WithTimeout(ctx, 3*time.Second)
		err := l.sleeper.Exec(short, s)
		cancel()
		if s.Out.Len() > 0 {
			l.mu.Lock()
			l.seen[id] = true
			l.mu.Unlock()
		} else if err != nil {
			pause(ctx)
		}
	}
}

// containers creates containers that end with a code of their own, and removes every other one.
func (l *crashLoad) containers(ctx context.Context, t *testing.T) {
	for i := 0; ctx.Err() == nil; i++ {
		code := 1 + i%100
		c, err := l.pod.TryCreate(t, l.image, cmd("exit", strconv.Itoa(code)))
		if err != nil {
			pause(ctx)
			continue
		}
		started := c.Start(t) == nil
		if i%2 == 0 {
			// It is killed by that, if it still runs.
			_, _ = l.node.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: c.ID})
			continue
		}
		if started {
			l.mu.Lock()
			l.started[c.ID] = code
			l.mu.Unlock()
		}
	}
}

// pulls pulls images of their own content and removes them.
func (l *crashLoad) pulls(ctx context.Context, t *testing.T) {
	r := testimage.NewRegistry()
	defer r.Close()
	for i := 0; ctx.Err() == nil; i++ {
		img, err := testimage.Build(testimage.Spec{Files: map[string]string{"/f": strconv.Itoa(i), "/big": string(make([]byte, 1<<20))}})
		if err != nil {
			t.Error(err)
			return
		}
		ref, err := r.Push("churn:v"+strconv.Itoa(i), img)
		if err != nil {
			t.Error(err)
			return
		}
		spec := &runtimeapi.ImageSpec{Image: ref}
		if _, err := l.node.Images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: spec}); err != nil {
			pause(ctx)
			continue
		}
		_, _ = l.node.Images.RemoveImage(ctx, &runtimeapi.RemoveImageRequest{Image: spec})
		pause(ctx)
	}
}

// pause keeps a worker from running hot while the runtime is away.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Millisecond):
	}
}

// checkContainers compares what the runtime says of each container with what the kernel says.
func (l *crashLoad) checkContainers(t *testing.T) {
	resp, err := l.node.ListContainers(runtimetest.Context(t), &runtimeapi.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range resp.GetContainers() {
		if listed.GetId() == l.sleeper.ID {
			continue
		}
		c := &runtimetest.Container{Pod: l.pod, ID: listed.GetId()}
		st := c.Status(t)
		if st.GetState() == runtimeapi.ContainerState_CONTAINER_RUNNING {
			st = c.Ended(t)
		}
		code, confirmed := l.started[c.ID]
		switch {
		case confirmed && (st.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED || int(st.GetExitCode()) != code):
			t.Errorf("container that was started to exit with %d is %v with %d, %s", code, st.GetState(), st.GetExitCode(), st.GetReason())
		case len(cgroups(t, c.ID)) > 0:
			t.Errorf("container is %v and has cgroups %v", st.GetState(), cgroups(t, c.ID))
		}
	}
}

// checkJournal checks that no session is open, and that those whose output was seen have all three records.
func checkJournal(t *testing.T, path string, seen map[string]bool) {
	t.Helper()
	kinds := map[string]map[journal.Kind]int{}
	open := map[journal.SessionKey]bool{}
	for _, r := range readJournal(t, path) {
		if kinds[r.AuditID] == nil {
			kinds[r.AuditID] = map[journal.Kind]int{}
		}
		kinds[r.AuditID][r.Kind]++
		open[r.SessionKey()] = r.Kind != journal.KindEnd
	}
	for id := range seen {
		if k := kinds[id]; k[journal.KindIntent] != 1 || k[journal.KindStart] != 1 || k[journal.KindEnd] != 1 {
			t.Errorf("session %s has records %v, want one of each kind", id, k)
		}
	}
	for key, is := range open {
		if is {
			t.Errorf("session %v has no end", key)
		}
	}
}

// readJournal returns the records of all files of a journal.
func readJournal(t *testing.T, path string) (out []journal.Record) {
	t.Helper()
	files, err := journal.Files(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range journal.NewReader(bytes.NewReader(b), name).Records() {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
	}
	return out
}

// checkNoLeak checks that after remove nothing is left of any pod below the runtime's root.
func checkNoLeak(t *testing.T, root string, remove func()) {
	t.Helper()
	remove()
	// A monitor takes a moment to leave after it has said its last word.
	runtimetest.Eventually(t, "all monitors are gone", func() bool { return commandsWith(t, filepath.Join(root, "containers")) == 0 })
	if n := mountsBelow(t, root); n != 0 {
		t.Errorf("%d mounts are left", n)
	}
	for _, sub := range []string{"containers", "sandboxes", "runc", "tmp", "store/tmp"} {
		left, err := os.ReadDir(filepath.Join(root, sub))
		if err != nil {
			t.Error(err)
		}
		if len(left) > 0 {
			t.Errorf("%s still has %d entries, the first %s", sub, len(left), left[0].Name())
		}
	}
}
