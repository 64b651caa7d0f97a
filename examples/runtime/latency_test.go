package runtime_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// pair is a client of our runtime, in a process of its own and without a race detector, and runc on its own, both about
// to run the same program in the same container.
type pair struct {
	daemon    *daemon
	container *runtimetest.Container
}

func newPair(t testing.TB) *pair {
	t.Helper()
	d := newDaemon(t)
	d.start(t)
	ref := push(t, testimage.Spec{})
	d.node.Pull(t, ref)
	return &pair{d, d.node.RunPod(t).Start(t, ref, cmd("sleep"))}
}

func (p *pair) lanyard(t testing.TB, protocol runtimetest.Protocol) {
	s := &runtimetest.Session{Protocol: protocol, Cmd: cmd("print", "x"), Env: auditID("f4a3b2c1-0000-4000-8000-000000000001")}
	if p.container.MustExec(t, s); s.Out.String() != "x" {
		t.Fatalf("output = %q", s.Out.String())
	}
}

func (p *pair) floor(t testing.TB) {
	out, err := exec.Command(p.daemon.config.Runc, "--root", filepath.Join(p.daemon.config.Root, "runc"), "exec",
		p.container.ID, testimage.Program, "print", "x").Output()
	if err != nil || !bytes.Equal(out, []byte("x")) {
		t.Fatalf("runc exec: %q, %v", out, err)
	}
}

// TestExecLatency runs them in turns, so that all see the same machine, and prints what a whole session (gRPC, streams,
// journal on disk, monitor) costs over runc alone, its client included. It judges the sessions and not the clock: the
// machine may be busy. The fastest tenth says more then than the median.
func TestExecLatency(t *testing.T) {
	const times = 100
	p := newPair(t)
	var sockets, spdy, runc []time.Duration
	for range times {
		sockets = append(sockets, timed(func() { p.lanyard(t, runtimetest.WebSocket) }))
		spdy = append(spdy, timed(func() { p.lanyard(t, runtimetest.SPDY) }))
		runc = append(runc, timed(func() { p.floor(t) }))
	}
	slices.Sort(sockets)
	slices.Sort(spdy)
	slices.Sort(runc)
	for name, i := range map[string]int{"median": times / 2, "fastest tenth": times / 10} {
		t.Logf("%s of %d: runc exec %v; over it, a session takes %v by WebSocket, %v by SPDY", name, times, runc[i], sockets[i]-runc[i], spdy[i]-runc[i])
	}
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// BenchmarkExec is the same in figures; floor is runc exec alone.
func BenchmarkExec(b *testing.B) {
	p := newPair(b)
	for _, tt := range []struct {
		name string
		run  func(testing.TB)
	}{
		{"websocket/lanyard", func(t testing.TB) { p.lanyard(t, runtimetest.WebSocket) }},
		{"websocket/floor", p.floor},
		{"spdy/lanyard", func(t testing.TB) { p.lanyard(t, runtimetest.SPDY) }},
		{"spdy/floor", p.floor},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				tt.run(b)
			}
		})
	}
}
