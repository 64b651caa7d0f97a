package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// ledger is the truth: which process is of which session, from what the processes said.
type ledger struct {
	sessions map[string]*played
	said     map[string]report.Report // by command line; no two processes have the same
	told     map[string]int           // how often a command line was among the events
	owner    map[attribution.Process]*played
	parent   map[attribution.Process]attribution.Process
	first    map[attribution.Process]bool // is a session's first process
	claims   map[attribution.Process]map[string]bool
}

func newLedger(sessions map[string]*played) *ledger {
	return &ledger{
		sessions: sessions, said: map[string]report.Report{}, told: map[string]int{},
		owner: map[attribution.Process]*played{}, parent: map[attribution.Process]attribution.Process{},
		first: map[attribution.Process]bool{}, claims: map[attribution.Process]map[string]bool{},
	}
}

// read takes in what processes said.
func (l *ledger) read(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r report.Report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		l.said[strings.Join(r.Args, " ")] = r
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// learn finds the processes that spoke among those that the kernel told of; what they fork is theirs.
func (l *ledger) learn(t *testing.T, answers []attribution.Answer) {
	t.Helper()
	for i := range answers {
		e := &answers[i].Event
		if e.Parent.Identified() {
			l.parent[e.Process] = e.Parent
		}
		if r, ok := l.said[e.Command]; ok && e.Kind == attribution.KindExec {
			l.recognise(t, e.Process, r)
			l.told[e.Command]++
		}
	}
	unseen := l.unseen()
	for i := range answers {
		e := &answers[i].Event
		if l.owner[e.Process] == nil && e.Kind == attribution.KindFork {
			l.owner[e.Process] = l.owner[e.Parent]
		}
		// A process can end after its environment was read, and before its command line was.
		if l.owner[e.Process] == nil && e.Command == "" {
			l.owner[e.Process] = unseen[start{e.Process.StartTicks, answers[i].AuditID}]
		}
	}
}

// start is when a process started, and the audit ID of the session that it said to be of.
type start struct {
	ticks   uint64
	auditID string
}

// unseen returns the sessions of processes that reported, and were gone before the watcher could see their program.
func (l *ledger) unseen() map[start]*played {
	out := map[start]*played{}
	for command, r := range l.said {
		if s := l.session(r); l.told[command] == 0 {
			out[start{r.StartTicks, s.id}] = s
		}
	}
	return out
}

// session returns whose process a report is of.
func (l *ledger) session(r report.Report) *played {
	const nameAt = 3
	return l.sessions[r.Args[nameAt]]
}

// recognise notes whose process it is.
func (l *ledger) recognise(t *testing.T, p attribution.Process, r report.Report) {
	t.Helper()
	const stepsAt = 4
	s := l.session(r)
	if r.StartTicks != p.StartTicks {
		t.Errorf("%q started at %d, and says %d", r.Args, p.StartTicks, r.StartTicks)
	}
	if known := l.owner[p]; known != nil && known != s {
		t.Fatalf("%+v is of two sessions: the test used a PID twice in a tick", p)
	}
	l.owner[p] = s
	l.first[p] = l.first[p] || r.Args[stepsAt] == "first"
	if l.claims[p] == nil {
		l.claims[p] = map[string]bool{}
	}
	id, _ := r.Get(execaudit.AuditIDName)
	l.claims[p][id] = true
}

// chained says whether the events lead up to the session's first process: they may not, where a process was gone before
// the watcher could look.
func (l *ledger) chained(p attribution.Process) bool {
	for range truthDepth + 2 {
		if l.first[p] {
			return true
		}
		p = l.parent[p]
	}
	return false
}

// how an answer is found.
type how bool

const (
	byMark  how = true
	byChain how = false
)

// verdict is the right one for an event with the kernel's mark, or one whose chain is whole.
func (l *ledger) verdict(s *played, e *attribution.Event, by how) (attribution.Verdict, attribution.Reason) {
	foreign := e.AuditID != "" && e.AuditID != s.id
	switch {
	case foreign && by == byChain:
		return attribution.VerdictConflicting, attribution.ReasonSpoofed
	case s.id == execaudit.PlaceholderAuditID:
		return attribution.VerdictPlaceholder, attribution.ReasonPlaceholder
	case s.reused:
		return attribution.VerdictConflicting, attribution.ReasonReused
	case foreign:
		return attribution.VerdictCorroborated, attribution.ReasonKernelSpoofed
	case by == byMark:
		return attribution.VerdictCorroborated, attribution.ReasonKernel
	}
	return attribution.VerdictCorroborated, attribution.ReasonChain
}

// tally is what came of a comparison.
type tally struct {
	named, wrong, weak, foreign int
	verdicts                    map[string]int
	spoofs                      map[*played]bool
}

// compare holds the answers against the truth; strict wants the exact verdict wherever there is the mark, or the chain
// is whole.
func (l *ledger) compare(t *testing.T, answers []attribution.Answer, strict bool, by how) tally {
	t.Helper()
	sum := tally{verdicts: map[string]int{}, spoofs: map[*played]bool{}}
	for i := range answers {
		a := &answers[i]
		s := l.owner[a.Event.Process]
		sum.verdicts[a.Verdict.String()]++
		if a.Reason == attribution.ReasonSpoofed || a.Reason == attribution.ReasonKernelSpoofed {
			sum.spoofs[s] = true
		}
		sum.name(t, a, s)
		switch {
		case s == nil:
			sum.foreign++
		case by == byChain && !l.chained(a.Event.Process):
			sum.weak++
		case strict:
			l.exact(t, a, s, by)
		}
	}
	return sum
}

// name checks the user, where the answer has one.
func (sum *tally) name(t *testing.T, a *attribution.Answer, s *played) {
	t.Helper()
	if a.Session == nil {
		return
	}
	sum.named++
	switch {
	case s == nil:
		sum.wrong++
		t.Errorf("%v %q of %+v names %s, and no session says that it is its", a.Event.Kind, a.Event.Command, a.Event.Process, a.Session.User.Name)
	case a.Session.User.Name != userName(s.user) || a.Session.AuditID != s.id:
		sum.wrong++
		t.Errorf("%s: %v %q names %s, want %s", s.name(), a.Event.Kind, a.Event.Command, a.Session.User.Name, userName(s.user))
	}
}

func (l *ledger) exact(t *testing.T, a *attribution.Answer, s *played, by how) {
	t.Helper()
	e := &a.Event
	if e.AuditID != "" && l.claims[e.Process] != nil && !l.claims[e.Process][e.AuditID] {
		t.Errorf("%q was told with the ID %q, and said %v", e.Command, e.AuditID, l.claims[e.Process])
	}
	if verdict, why := l.verdict(s, e, by); a.Verdict != verdict || a.Reason != why {
		t.Errorf("%s: %v %q: %s (%s), want %s (%s)", s.name(), e.Kind, e.Command, a.Verdict, a.Reason, verdict, why)
	}
}

// shared counts the PIDs that processes of several users had, one after the other.
func (l *ledger) shared() (n int) {
	users := map[int]map[int]bool{}
	for p, s := range l.owner {
		if s == nil {
			continue
		}
		if users[p.PID] == nil {
			users[p.PID] = map[int]bool{}
		}
		users[p.PID][s.user] = true
	}
	for _, had := range users {
		if len(had) > 1 {
			n++
		}
	}
	return n
}
