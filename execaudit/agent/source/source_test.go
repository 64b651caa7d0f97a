package source_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

const (
	boot  = "7a3f1c52-0000-4000-8000-000000000001"
	inA   = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	login = agent.MinLoginUID + 5
)

const patience = 30 * time.Second

// until waits for a condition.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// kept is an Output that keeps the lines.
type kept struct {
	mu     sync.Mutex
	lines  []string
	closed bool
}

func (k *kept) Write(events []*agent.Event, notices []*agent.Notice) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range events {
		k.lines = append(k.lines, string(e.AppendLine(nil)))
	}
	for _, n := range notices {
		k.lines = append(k.lines, string(n.AppendLine(nil)))
	}
	return nil
}

func (k *kept) Close() error {
	k.closed = true
	return nil
}

func (k *kept) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.lines, "")
}

func observation(kind agent.Kind, mark uint32, pid int) agent.Observation {
	o := agent.Observation{
		Kind: kind, At: time.Duration(pid)*time.Second + 2, SessionID: mark, LoginUID: login, Cgroup: "/kubepods/" + inA,
		MountNS: 7, Status: -1,
	}
	o.Task = agent.Task{PID: pid, Start: time.Duration(pid)*time.Second + 1}
	if kind == agent.KindExec {
		o.Args = redact.NewBytes([]byte("sh\x00-c\x00id\x00"))
	}
	return o
}

func marked(id string, mark uint32) journal.Record {
	s := journal.Session{
		Node: "n1", ContainerID: inA, ExecID: id, AuditID: "audit-" + id, Namespace: "shop", Pod: "web-0",
		Container: "app",
	}
	return journal.Marked(journal.Intent(s, []string{"sh"}, false, time.Now()), journal.Process{
		BootID:    boot,
		SessionID: mark, LoginUID: login,
	})
}

func TestSource(t *testing.T) {
	t.Run("AGT-3 an event leaves with the session that the journal has", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "exec.jsonl")
		w, err := journal.Open(path, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := w.Append(marked("e1", 7)); err != nil {
			t.Fatal(err)
		}
		out := &kept{}
		s, err := source.New(source.Options{
			Node: "n1", BootID: boot, NoWalk: true, Journals: []string{path}, Outputs: []source.Output{out},
			Reader: source.NewRecording([]agent.Observation{observation(agent.KindExec, 7, 12), observation(agent.KindExit, 7,
				12)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if text := out.text(); strings.Count(text, `"auditID":"audit-e1"`) != 2 || !strings.Contains(text,
			`"notice":"stop"`) || !out.closed {
			t.Errorf("lines\n%s", text)
		}
		if st := s.Status(); st.Told != 2 || st.Tracker.Events != 2 || st.Journals[0].Records != 1 {
			t.Errorf("Status = %+v", st)
		}
	})
}

func TestAnswers(t *testing.T) {
	t.Run("AGT-3 what is certain has its answer on the node: the mark, the journal and the audit log agree",
		func(t *testing.T) {
			now := time.Now()
			record := marked("e1", 7)
			record.Time = now
			o := observation(agent.KindExec, 7, 12)
			o.At = source.SinceBoot()
			var answers []attribution.Answer
			r := &paced{source.NewRecording([]agent.Observation{o}), make(chan struct{})}
			s, err := source.New(source.Options{
				Node: "n1", BootID: boot, NoWalk: true, Reader: r, Waiting: func() ([]journal.Record,
					error,
				) {
					return []journal.Record{record}, nil
				},
				Answers: func(a *attribution.Answer) { answers = append(answers, *a) }, Attribution: attribution.Options{Last: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			s.AddAudit(&attribution.Audit{
				AuditID: "audit-e1", Stage: attribution.StageResponseStarted, User: attribution.User{Name: "alice"},
				Namespace: "shop", Pod: "web-0",
				Container: "app", Command: []string{"sh"}, Code: 101, Received: now.Add(-time.Second), At: now.Add(-time.Second),
			})
			close(r.more)
			if err := s.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if len(answers) != 1 || answers[0].Verdict != attribution.VerdictCorroborated ||
				answers[0].Session.User.Name != "alice" {
				t.Errorf("answers %+v", answers)
			}
		})
}
