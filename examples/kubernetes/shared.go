package kubernetes

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// Programs are what a cluster runs, without the controller manager.
var programs = []string{
	"etcd", "kube-apiserver", "kubelet", "containerd", "containerd-shim-runc-v2", "ctr", "runc", "kubectl", "lanyard-reporter",
}

// TB is the part of testing.TB that is wanted here, so that this package does not bring testing into programs.
type TB interface {
	parts.TB
	Cleanup(func())
	Failed() bool
	Fatal(args ...any)
	Logf(format string, args ...any)
}

// Need skips the test with the reason where a cluster cannot run: a program was not built, the test does not run as
// root.
func Need(t TB, more ...string) {
	t.Helper()
	parts.Need(t, append(programs[:len(programs):len(programs)], more...)...)
}

// Shared is one cluster for many tests, which may add to it, and do not break it:
//
//	var shared kubernetes.Shared
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
//
//	func TestSomething(t *testing.T) { c := shared.Cluster(t); … }
type Shared struct {
	Options Options // its zero value works

	once    sync.Once
	cluster *Cluster
	err     error
	took    time.Duration
}

// startPatience bounds the start of a cluster.
const startPatience = 3 * time.Minute

// Cluster returns the cluster, which the first call starts. The test is skipped where none can run. When it fails, it
// shows the end of every component's log.
func (s *Shared) Cluster(t TB) *Cluster {
	t.Helper()
	Need(t)
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startPatience)
		defer cancel()
		began := time.Now()
		s.cluster, s.err = Start(ctx, s.Options)
		s.took = time.Since(began)
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	ShowLogs(t, s.cluster)
	return s.cluster
}

// Main runs the tests, stops the cluster and returns the exit code, which is not 0 where something is left.
func (s *Shared) Main(m interface{ Run() int }) int {
	code := m.Run()
	if s.cluster == nil {
		return code
	}
	began := time.Now()
	if err := s.cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "the shared cluster did not stop clean:", err)
		code = 1
	}
	fmt.Printf("the shared cluster started in %.1fs and stopped in %.1fs\n", s.took.Seconds(), time.Since(began).Seconds())
	return code
}

// Own starts a cluster for one test, which stops it.
func Own(t TB, o Options) *Cluster {
	t.Helper()
	Need(t)
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	c, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Fatal("the cluster did not stop clean:", err)
		}
	})
	ShowLogs(t, c)
	return c
}

// ShowLogs shows the end of every component's log when the test fails.
func ShowLogs(t TB, c *Cluster) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", c.Logs())
		}
	})
}
