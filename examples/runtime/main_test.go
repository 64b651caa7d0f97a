package runtime_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// atEnd are the clean-ups of what tests share.
var atEnd []func() error

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range atEnd {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "clean-up:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// newDir is a directory with a short path: a socket's may have 108 bytes, and a test's own directory has the test's
// name in it.
func newDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lanyard-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// newConfig is a runtime of the test's own.
func newConfig(t testing.TB) runtime.Config {
	t.Helper()
	programs := parts.Need(t, "runc", "lanyard-monitor")
	dir := newDir(t)
	return runtime.Config{
		Root: filepath.Join(dir, "root"), Socket: filepath.Join(dir, "cri.sock"), Runc: programs[0], Monitor: programs[1],
	}
}

// ours is our runtime in this process.
type ours struct {
	*runtimetest.Node
	server *runtime.Server
	config runtime.Config
	stop   func()
}

// serve runs a runtime until the test ends or stop is called.
func serve(t testing.TB, c runtime.Config) *ours {
	t.Helper()
	o, err := start(c)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		if err := o.end(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	n := runtimetest.Dial(t, c.Socket)
	awaitAnswer(t, n)
	return &ours{n, o.server, c, stop}
}

func awaitAnswer(t testing.TB, n *runtimetest.Node) {
	t.Helper()
	runtimetest.Eventually(t, "runtime answers", func() bool {
		_, err := n.Version(runtimetest.Context(t), &runtimeapi.VersionRequest{})
		return err == nil
	})
}

// running is a runtime that serves.
type running struct {
	server *runtime.Server
	end    func() error
}

func start(c runtime.Config) (running, error) {
	s, err := runtime.New(c)
	if err != nil {
		return running{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	return running{s, func() error {
		cancel()
		if err := <-served; err != nil {
			return fmt.Errorf("Serve: %w", err)
		}
		return s.Close()
	}}, nil
}

// node is a runtime that many tests share; difference says what it cannot do, by name.
type node struct {
	*runtimetest.Node
	name string
	envs bool // injects ExecRequest.envs
	cuts bool // may close a WebSocket before the output is through, as cri-streaming does on its own
}

// exec runs the session. Where the runtime may cut a WebSocket short, the program stays a moment after its output, and
// runs again, and stays longer, until there is some; and a terminal there has an input that stays open, because without
// one its output is lost every time on a busy machine.
func (n node) exec(t testing.TB, c *runtimetest.Container, s *runtimetest.Session) *runtimetest.Session {
	t.Helper()
	for tries := range 20 {
		try := &runtimetest.Session{Cmd: s.Cmd, Env: s.Env, TTY: s.TTY, Protocol: s.Protocol}
		if n.cuts && s.Protocol == runtimetest.WebSocket {
			linger := time.Duration(1+tries) * 300 * time.Millisecond
			try.Cmd = append(cmd("linger", linger.String()), s.Cmd[1:]...)
			if s.TTY {
				in, open := io.Pipe()
				defer open.Close()
				try.Stdin = in
			}
		}
		err := c.Exec(runtimetest.Context(t), try)
		if n.cuts && s.Protocol == runtimetest.WebSocket && (err != nil || try.Out.Len() == 0) {
			continue
		}
		if err != nil {
			t.Fatalf("exec %q: %v; stderr %q", s.Cmd, err, try.Err.String())
		}
		return try
	}
	t.Fatalf("exec %q: no output in 20 runs", s.Cmd)
	return nil
}

var shared struct {
	lanyard, containerd sync.Once
	socket              map[string]string
}

// both runs the test against our runtime and against containerd.
func both(t *testing.T, test func(t *testing.T, n node)) {
	t.Run("lanyard", func(t *testing.T) { test(t, lanyard(t)) })
	t.Run("containerd", func(t *testing.T) { test(t, containerd(t)) })
}

func lanyard(t testing.TB) node {
	programs := parts.Need(t, "runc", "lanyard-monitor")
	shared.lanyard.Do(func() {
		dir, err := os.MkdirTemp("", "lanyard-test-")
		if err != nil {
			t.Fatal(err)
		}
		socket := filepath.Join(dir, "cri.sock")
		r, err := start(runtime.Config{Root: filepath.Join(dir, "root"), Socket: socket, Runc: programs[0], Monitor: programs[1]})
		if err != nil {
			t.Fatal(err)
		}
		share("lanyard", socket, r.end, dir)
	})
	return node{Node: runtimetest.Dial(t, socketOf(t, "lanyard")), name: "lanyard", envs: true}
}

func containerd(t testing.TB) node {
	parts.Need(t, "runc", "containerd", "containerd-shim-runc-v2", "ctr", "lanyard-reporter")
	shared.containerd.Do(func() {
		dir, err := os.MkdirTemp("", "lanyard-test-")
		if err != nil {
			t.Fatal(err)
		}
		r, err := startContainerd(dir)
		if err != nil {
			t.Fatal(err)
		}
		share("containerd", r.Socket(), r.Stop, dir)
	})
	return node{Node: runtimetest.Dial(t, socketOf(t, "containerd")), name: "containerd", cuts: true}
}

func startContainerd(dir string) (*containerdrig.Rig, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := containerdrig.Find(dir)
	if err != nil {
		return nil, err
	}
	r, err := containerdrig.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	pause, err := testimage.Pause()
	if err != nil {
		return nil, err
	}
	return r, r.Import(ctx, containerdrig.PauseImage, pause)
}

func share(name, socket string, end func() error, dir string) {
	if shared.socket == nil {
		shared.socket = map[string]string{}
	}
	shared.socket[name] = socket
	atEnd = append(atEnd, end, func() error { return os.RemoveAll(dir) })
}

func socketOf(t testing.TB, name string) string {
	t.Helper()
	s, ok := shared.socket[name]
	if !ok {
		t.Fatalf("%s did not start", name)
	}
	return s
}

// push serves an image with the reporter, and the given files and configuration, for the time of the test.
func push(t testing.TB, spec testimage.Spec) string {
	t.Helper()
	spec.Reporter = parts.Need(t, "lanyard-reporter")[0]
	i, err := testimage.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return pushImage(t, i)
}

func pushImage(t testing.TB, i v1.Image) string {
	t.Helper()
	r := testimage.NewRegistry()
	t.Cleanup(r.Close)
	ref, err := r.Push("test:v1", i)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}
