//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
)

// patience bounds a wait for what must happen.
const patience = 30 * time.Second

var uids atomic.Uint32

// privateUID returns a login UID that no other test marks with, outside of the bridge's range.
func privateUID() uint32 { return 1_000_000_000 + uint32(os.Getpid())*64 + uids.Add(1) }

// session is a marked session of the test's own, and the programs that look at it alone.
type session struct {
	*bpf.Programs
	t   *testing.T
	uid uint32
}

func load(t *testing.T, o bpf.Options) *session {
	t.Helper()
	if o.MinLoginUID == 0 {
		o.MinLoginUID = privateUID()
		o.MaxLoginUID = o.MinLoginUID
	}
	p, err := bpf.Load(o)
	if errors.Is(err, unix.EPERM) || errors.Is(err, bpf.ErrUnsupported) {
		t.Skipf("the programs cannot be loaded here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return &session{p, t, o.MinLoginUID}
}

// start starts a marked process. The test's process made it before it was marked: its fork is not told.
func (s *session) start(args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), markEnv(s.uid))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd
}

// until reads events, copied, up to the first that last says is the last.
func (s *session) until(last func(o *agent.Observation) bool) []agent.Observation {
	s.t.Helper()
	s.SetDeadline(time.Now().Add(patience))
	var all []agent.Observation
	for {
		var o agent.Observation
		if err := s.Read(&o); err != nil {
			s.t.Fatalf("after %d events: %v", len(all), err)
		}
		s.Told(s.Position(), 0)
		all = append(all, o)
		if last(&o) {
			return all
		}
	}
}

func exitOf(pid int) func(o *agent.Observation) bool {
	return func(o *agent.Observation) bool { return o.Kind == agent.KindExit && o.PID == pid }
}

func TestSession(t *testing.T) {
	for name, raw := range map[string]bool{"": false, ", raw": true} {
		t.Run("AGT-1 every process of a session is seen"+name, func(t *testing.T) {
			s := load(t, bpf.Options{Raw: raw})
			cmd := s.start("/bin/sh", "-c", "/bin/true; (exit 3); /bin/true")
			events := s.until(exitOf(cmd.Process.Pid))
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			for _, o := range events {
				t.Logf("%+v", o)
			}
		})
	}
}
