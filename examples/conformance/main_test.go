package conformance_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/runtime"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// patience is how long a case may take here, where many tests share few cores.
const patience = 4 * time.Minute

// newDir is a directory with a short path, because a socket's may have 108 bytes only.
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

// reporter is the static program for the images.
func reporter(t testing.TB) string {
	t.Helper()
	return parts.Need(t, "lanyard-conformance-reporter")[0]
}

// newConfig is a reference runtime in the test's own directory.
func newConfig(t testing.TB) runtime.Config {
	t.Helper()
	programs := parts.Need(t, "runc", "lanyard-monitor")
	dir := newDir(t)
	return runtime.Config{
		Root: filepath.Join(dir, "root"), Socket: filepath.Join(dir, "cri.sock"), Runc: programs[0], Monitor: programs[1],
	}
}

// serve runs a reference runtime until the test ends and returns its endpoint.
func serve(t testing.TB, c runtime.Config) string {
	t.Helper()
	s, err := runtime.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	// It answers as soon as it listens.
	_, err = runtimetest.Dial(t, c.Socket).Version(runtimetest.Context(t), &runtimeapi.VersionRequest{}, grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	return "unix://" + c.Socket
}

// serveContainerd runs a real containerd until the test ends and returns its endpoint. The changes are made to its
// configuration first.
func serveContainerd(t testing.TB, change ...func(*containerdrig.Config)) string {
	t.Helper()
	parts.Need(t, "runc", "containerd", "containerd-shim-runc-v2", "ctr", "lanyard-reporter")
	config, err := containerdrig.Find(newDir(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&config)
	}
	return startContainerd(t, config)
}

// serveDebian runs Debian's containerd, which is older, until the test ends and returns its endpoint.
func serveDebian(t testing.TB) string {
	t.Helper()
	parts.Need(t, "debian/runc", "debian/containerd", "debian/containerd-shim-runc-v2", "debian/ctr", "lanyard-reporter")
	config, err := containerdrig.FindDebian(newDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return startContainerd(t, config)
}

func startContainerd(t testing.TB, config containerdrig.Config) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := containerdrig.Start(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	pause, err := testimage.Pause()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Import(ctx, containerdrig.PauseImage, pause); err != nil {
		t.Fatal(err)
	}
	return "unix://" + r.Socket()
}

// run runs the suite, which itself must have no trouble.
func run(t testing.TB, o suite.Options) suite.Report {
	t.Helper()
	o.Reporter = reporter(t)
	o.Timeout = patience
	report, err := suite.Run(t.Context(), o)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return report
}

// text is the report as people read it.
func text(t testing.TB, r suite.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
