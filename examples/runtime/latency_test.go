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

// pair is a client of our runtime, in a process of its own and without a race detector, and runc on its own, both about to
// run the same program in the same container.
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

func (p *pair) lanyard(t testing.TB) {
	s := &runtimetest.Session{Cmd: cmd("print", "x"), Env: auditID("f4a3b2c1-0000-4000-8000-000000000001")}
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

// TestExecLatency runs the two in turns, so that both see the same machine, and prints what a whole session (gRPC, SPDY,
// journal on disk, monitor) costs over runc alone. It judges the sessions and not the clock: the machine may be busy. The
// fastest tenth says more then than the median.
func TestExecLatency(t *testing.T) {
	const times = 50
	sessions, floors := newPair(t).inTurns(t, times)
	show := func(name string, i int) {
		t.Logf("%s of %d: session %v, runc exec %v, overhead %v", name, times, sessions[i], floors[i], sessions[i]-floors[i])
	}
	show("median", times/2)
	show("fastest tenth", times/10)
}

// inTurns returns how long each took, the fastest first.
func (p *pair) inTurns(t *testing.T, times int) (sessions, floors []time.Duration) {
	for range times {
		sessions = append(sessions, timed(func() { p.lanyard(t) }))
		floors = append(floors, timed(func() { p.floor(t) }))
	}
	slices.Sort(sessions)
	slices.Sort(floors)
	return sessions, floors
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
	}{{"static/lanyard", p.lanyard}, {"static/floor", p.floor}} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				tt.run(b)
			}
		})
	}
}
