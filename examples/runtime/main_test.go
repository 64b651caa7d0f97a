package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// ours is our runtime in this process.
type ours struct {
	*runtimetest.Node
	config runtime.Config
	stop   func()
}

// newConfig is a runtime of the test's own.
func newConfig(t testing.TB) runtime.Config {
	t.Helper()
	programs := parts.Need(t, "runc", "lanyard-monitor")
	// Not t.TempDir: its name grows with the test's and a socket's may have 108 bytes.
	dir, err := os.MkdirTemp("", "lanyard-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return runtime.Config{
		Root: filepath.Join(dir, "root"), Socket: filepath.Join(dir, "cri.sock"), Runc: programs[0], Monitor: programs[1],
	}
}

// serve runs a runtime until the test ends or stop is called.
func serve(t testing.TB, c runtime.Config) *ours {
	t.Helper()
	s, err := runtime.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	o := &ours{Node: runtimetest.Dial(t, c.Socket), config: c}
	stopped := false
	o.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	t.Cleanup(o.stop)
	return o
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
