//go:build linux

package source_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// full says that tests are to run at their full sizes.
var full = os.Getenv("LANYARD_SOAK") != ""

// stand is a node: sessions of the theatre, and the journal that its runtime writes.
type stand struct {
	*theatre.Stage
	logins     uint32
	containers []*theatre.Container
	boot       string
	path       string
	journal    *journal.Writer

	mu       sync.Mutex
	sessions map[uint32]string // exec IDs by the kernel's session
}

// newStand makes a stand with room for that many processes. Its login UIDs are its own.
func newStand(t testing.TB, processes int) *stand {
	t.Helper()
	s := &stand{Stage: theatre.Open(t, processes), logins: theatre.FreeLogins(), sessions: map[uint32]string{}}
	for range 3 {
		s.containers = append(s.containers, theatre.NewContainer(t))
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	s.boot, s.path = strings.TrimSpace(string(boot)), filepath.Join(t.TempDir(), "exec.jsonl")
	if s.journal, err = journal.Open(s.path, journal.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.journal.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// plans are n sessions with marks, and a quarter more without or with a login UID that is no mark.
func (s *stand) plans(n, rounds int) []theatre.Plan {
	var plans []theatre.Plan
	for i := range n {
		plans = append(plans, theatre.Plan{
			LoginUID: s.logins + uint32(i), Rounds: rounds, Container: s.containers[i%len(s.containers)], Early: i%2 == 0,
		})
		switch i % 8 {
		case 3:
			plans = append(plans, theatre.Plan{Rounds: rounds, Container: s.containers[0]})
		case 7:
			plans = append(plans, theatre.Plan{LoginUID: 1000, Rounds: rounds, Container: s.containers[1]})
		}
	}
	return plans
}

func (s *stand) marked(p theatre.Plan) bool {
	return p.LoginUID >= s.logins && p.LoginUID < s.logins+theatre.Logins
}

// session is what the journal has of a session of the stage.
func (s *stand) session(play *theatre.Session) journal.Session {
	number := strconv.Itoa(int(play.SessionID))
	return journal.Session{
		Node: "n1", ContainerID: play.Container.ID, ExecID: "exec-" + number, AuditID: "audit-" + number, Namespace: "shop",
		Pod: "web-0", PodUID: play.Container.PodUID, Container: "app",
	}
}

// intent returns the record that is written before the session goes on.
func (s *stand) intent(play *theatre.Session) journal.Record {
	mark := journal.Process{BootID: s.boot, SessionID: play.SessionID, LoginUID: play.LoginUID}
	return journal.Marked(journal.Intent(s.session(play), []string{"player"}, false, time.Now()), mark)
}

func (s *stand) process(play *theatre.Session, t theatre.Task) journal.Process {
	return journal.Process{
		PID: t.PID, StartTicks: t.Start, BootID: s.boot, SessionID: play.SessionID, LoginUID: play.LoginUID,
	}
}

// cues write the journal as a runtime does.
func (s *stand) cues(plans []theatre.Plan) theatre.Cues {
	only := func(f func(*theatre.Session) error) func(int, *theatre.Session) error {
		return func(i int, play *theatre.Session) error {
			if !s.marked(plans[i]) {
				return nil
			}
			return f(play)
		}
	}
	return theatre.Cues{
		Marked: only(func(play *theatre.Session) error {
			s.expect(play)
			return s.journal.Append(s.intent(play))
		}),
		Begun: only(func(play *theatre.Session) error {
			return s.journal.Append(journal.Start(s.session(play), s.process(play, play.First), time.Now()))
		}),
		Ended: only(func(play *theatre.Session) error {
			return s.journal.Append(journal.End(s.session(play), s.process(play, play.First), 0, time.Now()))
		}),
	}
}

// expect has the session's events be told as its.
func (s *stand) expect(play *theatre.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[play.SessionID] = s.session(play).ExecID
}

func (s *stand) execID(session uint32) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.sessions[session]
	return id, ok
}

// sink is an Output that keeps what the tests ask for.
type sink struct {
	stand   *stand
	mu      sync.Mutex
	told    []theatre.Fact
	walked  []theatre.Task
	roles   map[theatre.Fact]agent.Role
	notices []agent.Notice
	wrong   []string
	wake    chan struct{}
}

func newSink(s *stand) *sink {
	return &sink{stand: s, roles: map[theatre.Fact]agent.Role{}, wake: make(chan struct{}, 1)}
}

func (k *sink) Write(events []*agent.Event, notices []*agent.Notice) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range events {
		k.take(e)
	}
	for _, n := range notices {
		k.notices = append(k.notices, *n)
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
	return nil
}

func (k *sink) Close() error { return nil }

// take checks what must hold for each event by itself.
func (k *sink) take(e *agent.Event) {
	f := factOf(e)
	if e.Observation.Origin == agent.OriginWalk {
		k.walked = append(k.walked, f.Task)
	} else {
		k.told = append(k.told, f)
		k.roles[f] = e.Role
	}
	want, known := k.stand.execID(e.SessionID)
	switch {
	case e.Session == nil && known, e.Session != nil && e.Session.ExecID != want:
		k.wrong = append(k.wrong, fmt.Sprintf("%+v is told as of %v, want %q", f, e.Session, want))
	case e.Process.BootID != k.stand.boot || e.Process.PID != f.PID || e.Process.StartTicks != f.Start || e.Node != "n1":
		k.wrong = append(k.wrong, fmt.Sprintf("%+v of %+v on %q", e.Process, f, e.Node))
	}
}

// factOf returns what an event says.
func factOf(e *agent.Event) theatre.Fact {
	f := theatre.Told(&e.Observation)
	if e.Observation.Kind == agent.KindExec && len(e.Args) > 0 {
		f.Nonce, _ = strconv.ParseUint(e.Args[len(e.Args)-1], 10, 64)
	}
	return f
}

// lost returns how many events were told to be missing, at most; unknown says that it is not known.
func (k *sink) lost() (n int64, unknown bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, notice := range k.notices {
		if notice.Kind == agent.NoticeLost {
			n += max(notice.Count, 0)
			unknown = unknown || notice.Count < 0
		}
	}
	return n, unknown
}

func (k *sink) count(kind agent.NoticeKind) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, notice := range k.notices {
		if notice.Kind == kind {
			n++
		}
	}
	return n
}

// await waits until the condition holds.
func (k *sink) await(t testing.TB, what string, f func() bool) {
	t.Helper()
	if err := k.awaited(f); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (k *sink) awaited(f func() bool) error {
	timeout := time.After(time.Minute)
	for !f() {
		select {
		case <-k.wake:
		case <-time.After(10 * time.Millisecond):
		case <-timeout:
			return errors.New("not within a minute")
		}
	}
	return nil
}

// options are those of a Source that watches this stand alone.
func (s *stand) options(r *source.Opened, out source.Output) source.Options {
	return source.Options{
		Node: "n1", Reader: r, Origin: r.Origin, Blind: r.Blind, Journals: []string{s.path}, Outputs: []source.Output{out},
		Tracker: agent.Options{MinLoginUID: s.logins, MaxLoginUID: s.logins + theatre.Logins - 1},
	}
}

// open opens the kernel's programs for this stand alone. The caller closes them.
func (s *stand) open(t testing.TB, b bpf.Options) *source.Opened {
	t.Helper()
	b.MinLoginUID, b.MaxLoginUID = s.logins, s.logins+theatre.Logins-1
	o, err := source.Open(source.ModeBPF, b, connector.Options{})
	if errors.Is(err, bpf.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// watch runs a Source until end is called, which returns once everything is told.
func watch(t testing.TB, o source.Options) (s *source.Source, end func()) {
	t.Helper()
	s, err := source.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return s, end
}

// records returns the truth of the sessions that were expected, and of the others.
func (s *stand) records(t testing.TB) (marked, others []theatre.Record) {
	t.Helper()
	records, err := s.Records()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, ok := s.execID(r.SessionID); ok {
			marked = append(marked, r)
		} else {
			others = append(others, r)
		}
	}
	return marked, others
}

func all(theatre.Record) bool { return true }
