package source_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

var uids atomic.Uint32

// privateUID returns a login UID that no other test marks with, outside of the bridge's range.
func privateUID() uint32 { return 1_100_000_000 + uint32(os.Getpid())*64 + uids.Add(1) }

// player is a shell that has marked itself, and runs what it is given.
type player struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	session uint32
}

func play(t *testing.T, uid uint32) *player {
	t.Helper()
	cmd := exec.Command("sh", "-c",
		`echo `+strconv.Itoa(int(uid))+` >/proc/self/loginuid && exec sh -c 'cat /proc/self/sessionid; echo; while read -r line; do eval "$line"; done'`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	p := &player{cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Skipf("a process cannot mark itself here: %v", err)
	}
	id, err := strconv.ParseUint(strings.TrimSpace(line), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	p.session = uint32(id)
	return p
}

func (p *player) run(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func bootID(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func open(t *testing.T, mode source.Mode, uid uint32) *source.Opened {
	t.Helper()
	o, err := source.Open(mode, bpf.Options{MinLoginUID: uid, MaxLoginUID: uid}, connector.Options{
		MinLoginUID: uid,
		MaxLoginUID: uid,
	})
	if errors.Is(err, unix.EPERM) || errors.Is(err, bpf.ErrUnsupported) || errors.Is(err, connector.ErrUnsupported) {
		t.Skipf("the kernel cannot be read here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestLive(t *testing.T) {
	for _, mode := range []source.Mode{source.ModeBPF, source.ModeConnector} {
		t.Run("AGT-1 AGT-3 AGT-4 a marked process by "+string(mode)+", with the session that comes to the journal meanwhile",
			func(t *testing.T) {
				uid := privateUID()
				before := play(t, uid)
				opened := open(t, mode, uid)
				path := filepath.Join(t.TempDir(), "exec.jsonl")
				out := &kept{}
				s, err := source.New(source.Options{
					Node: "n1", Reader: opened.Reader, Origin: opened.Origin, Blind: opened.Blind, Journals: []string{path},
					Outputs: []source.Output{out},
					Tracker: agent.Options{MinLoginUID: uid, MaxLoginUID: uid, Hold: patience},
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				until(t, "walk", func() bool { return s.Status().Tracker.Held > 0 })
				before.run(t, "/bin/sleep 0.3")
				w, err := journal.Open(path, journal.Options{})
				if err != nil {
					t.Fatal(err)
				}
				session := journal.Session{Node: "n1", ContainerID: "unknown", ExecID: "e1", AuditID: "audit-e1"}
				r := journal.Marked(journal.Intent(session, []string{"sh"}, false, time.Now()), journal.Process{
					BootID:    bootID(t),
					SessionID: before.session, LoginUID: uid,
				})
				if err := errors.Join(w.Append(r), w.Close()); err != nil {
					t.Fatal(err)
				}
				until(t, "exit of the child", func() bool { return strings.Contains(out.text(), `"exitCode":0`) })
				if got := s.Sessions(); len(got) != 1 || got[0].Session == nil || got[0].Processes < 1 {
					t.Errorf("Sessions() = %+v", got)
				}
				cancel()
				if err := errors.Join(<-done, opened.Close()); err != nil {
					t.Fatal(err)
				}
				text := out.text()
				if !strings.Contains(text, `"argv":["/bin/sleep","0.3"]`) || !strings.Contains(text, `"origin":"walk"`) ||
					!strings.Contains(text, `"auditID":"audit-e1"`) {
					t.Errorf("lines\n%s", text)
				}
				t.Logf("%s", text)
				if st := s.Status(); st.Told != st.Read || st.Read < 3 {
					t.Errorf("Status = %+v", st)
				}
			})
	}
}

func TestLeft(t *testing.T) {
	t.Run("AGT-2 a process that leaves the marks is told, since nothing more is told of it", func(t *testing.T) {
		uid := privateUID()
		p := play(t, uid)
		opened := open(t, source.ModeBPF, uid)
		out := &kept{}
		s, err := source.New(source.Options{
			Node: "n1", Reader: opened.Reader, Outputs: []source.Output{out}, Tracker: agent.Options{
				MinLoginUID: uid,
				MaxLoginUID: uid,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		source.SetCheckEvery(s, 20*time.Millisecond)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		until(t, "walk", func() bool { return len(s.Sessions()) == 1 || s.Status().Tracker.Held > 0 })
		p.run(t, "echo 0 >/proc/self/loginuid")
		until(t, "notice", func() bool { return strings.Contains(out.text(), `"notice":"left"`) })
		if n := len(s.Sessions()); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
		cancel()
		if err := errors.Join(<-done, opened.Close()); err != nil {
			t.Fatal(err)
		}
	})
}
