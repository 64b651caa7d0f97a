package attribution_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// replay runs a day through a machine and holds that its bound is kept, that each event of a session has an answer, and
// that no name is wrong.
type replay struct {
	t        *testing.T
	day      *day
	machine  *attribution.Machine
	open     []uint8 // by session, the events without an answer
	verdicts map[attribution.Verdict]int
	base     uint64
	heap     uint64 // the most that a garbage collection left
	inputs   int
	looked   int
}

func newReplay(t *testing.T, d *day, o attribution.Options) *replay {
	r := &replay{t: t, day: d, open: make([]uint8, d.sessions), verdicts: map[attribution.Verdict]int{}}
	r.base = live()
	r.machine = attribution.New(o, r.answered)
	d.audit = func(a *attribution.Audit) { r.machine.AddAudit(a); r.inputs++ }
	d.record = func(rec *attribution.Record) { r.machine.AddRecord(rec); r.inputs++ }
	d.event = func(e *attribution.Event) {
		if number, ok := numbered(e.Command); ok {
			r.open[number]++
		}
		r.machine.AddEvent(e)
		r.inputs++
	}
	return r
}

// numbered returns the session that an event's command tells, false for a container's own process.
func numbered(command string) (int, bool) {
	_, text, _ := strings.Cut(command, " ")
	number, err := strconv.Atoi(text)
	return number, err == nil
}

func (r *replay) answered(a *attribution.Answer) {
	number, ok := numbered(a.Event.Command)
	if !ok {
		if a.Session != nil {
			r.t.Fatalf("the container's own process is %s's", a.Session.User.Name)
		}
		return
	}
	if a.Revision <= 1 {
		r.open[number]--
	}
	r.verdicts[a.Verdict]++
	if a.Verdict == attribution.VerdictCorroborated && a.Session.User.Name != visitor(number) {
		r.t.Fatalf("session %d is %s's, corroborated as %s's", number, visitor(number), a.Session.User.Name)
	}
}

// run replays the day, and looks at the heap every few inputs.
func (r *replay) run(every int) {
	for t, ok := r.day.next(); ok; t, ok = r.day.next() {
		r.machine.Advance(t)
		if r.inputs/every > r.looked {
			r.looked++
			r.heap = max(r.heap, live()-r.base)
		}
	}
	r.machine.Flush()
}

// hold fails when the bound was exceeded or an event has no answer. Of the heap, day and queue are counted in.
func (r *replay) hold(bound int) {
	s := r.machine.Stats()
	r.t.Logf("%d sessions, %d inputs: peak counted %d bytes, heap %d; evicted %d processes, %d sessions, %d answers, %d early; %d revised; verdicts %v",
		r.day.begun, r.inputs, s.PeakBytes, r.heap, s.EvictedProcesses, s.EvictedSessions, s.EvictedAnswers, s.EarlyAnswers, s.Revised, r.verdicts)
	if s.PeakBytes > bound {
		r.t.Errorf("peak of %d bytes, bound %d", s.PeakBytes, bound)
	}
	if r.heap > uint64(heapOf*bound)+dayBytes {
		r.t.Errorf("heap of %d bytes, bound %d", r.heap, bound)
	}
	if evicted := s.EvictedProcesses + s.EvictedSessions + s.EarlyAnswers; evicted == 0 && len(r.verdicts) != 1 {
		r.t.Errorf("nothing was evicted, and not all is corroborated: %v", r.verdicts)
	}
	for number, open := range r.open {
		if open != 0 {
			r.t.Fatalf("session %d: %d events have no answer", number, open)
		}
	}
}

const (
	// heapOf is how many times the counted bytes the heap may be.
	heapOf = 2
	// dayBytes is what the evidence of the sessions that are open may take beside.
	dayBytes = 24 << 20
)

func TestBlocks(t *testing.T) {
	t.Run("ATT-6 what is remembered keeps no decoder's block of text in memory", func(t *testing.T) {
		const each = 1 << 20
		// block returns text as a decoder does: a part of something large.
		block := func(text string) string { return (text + strings.Repeat("x", each))[:len(text)] }
		before := live()
		m := roomy()
		for i := range 64 {
			id := fmt.Sprintf("%036d", i)
			e := first(id, 10+i, 100)
			a, r := audit(block(id), block("alice")), attribution.Record{
				Phase: attribution.PhaseStart, Time: e.Time, Node: block("n1"), ContainerID: block(webID), ExecID: block(id), AuditID: block(id),
				Process: attribution.Process{PID: e.Process.PID, StartTicks: e.Process.StartTicks, BootID: block("b")}, SessionID: uint32(i + 1),
				Namespace: block("shop"), Pod: block("web-0"), Container: block("app"),
			}
			a.ExecSession, a.Namespace, a.Pod, a.Container, a.Command = block(bridgeSession), block("shop"), block("web-0"), block("app"), []string{block("sh")}
			e.Process, e.SessionID, e.Node, e.ContainerID, e.AuditID, e.Command = r.Process, r.SessionID, block("n1"), block(webID), block(id), block("sh")
			e.Process.BootID, e.Parent.BootID, e.Namespace, e.Pod, e.Container, e.Agent = block("b"), block("b"), block("shop"), block("web-0"), block("app"), block("test")
			m.AddAudit(&a)
			m.AddRecord(&r)
			m.AddEvent(&e)
			e.Process, e.Time = attribution.Process{ExecID: block("image of " + id), PID: 7}, e.Time.Add(time.Millisecond)
			e.Parent, e.Grandparent, e.ExecSession = attribution.Process{ExecID: block("p")}, attribution.Process{ExecID: block("g")}, block(bridgeSession)
			m.AddEvent(&e)
		}
		m.Advance(dawn.Add(time.Minute))
		if s := m.Stats(); s.Answers != 128 {
			t.Fatalf("%d answers can be revised, want 128", s.Answers)
		}
		if heap := live() - before; heap > 4*each {
			t.Errorf("%d bytes of heap", heap)
		}
		runtime.KeepAlive(m)
	})
}

func TestCounted(t *testing.T) {
	t.Run("ATT-6 what is forgotten is no longer counted, and not twice", func(t *testing.T) {
		left := func(sessions int) int {
			r := newReplay(t, newDay(sessions, dawn.Truncate(24*time.Hour).Add(11*time.Hour)), attribution.Options{})
			r.run(sessions)
			for hours := range 5 {
				r.machine.Advance(dawn.Add(time.Duration(24+hours) * time.Hour))
			}
			s := r.machine.Stats()
			if s.Sessions+s.Processes+s.Pending+s.Answers != 0 {
				t.Errorf("after a day: %+v", s)
			}
			return s.Bytes
		}
		// Nodes are left, and what each session said of its node's clock, in 96 bytes.
		if more := left(4000) - left(2000); more != 2000*96 {
			t.Errorf("2000 sessions leave %d bytes, want %d", more, 2000*96)
		}
	})
}

func TestDay(t *testing.T) {
	sessions, noon := sessionsADay/25, dawn.Truncate(24*time.Hour).Add(11*time.Hour)
	if os.Getenv("LANYARD_SOAK") != "" {
		sessions, noon = sessionsADay, dawn.Truncate(24*time.Hour)
	}
	t.Run("ATT-6 a day of a million sessions stays within the default bound, and every event has its answer", func(t *testing.T) {
		r := newReplay(t, newDay(sessions, noon), attribution.Options{})
		r.run(sessions)
		r.hold(attribution.DefaultMaxBytes)
	})
	t.Run("ATT-6 within a bound that is too small for it, too", func(t *testing.T) {
		const small = 4 << 20
		sessions := sessions / 5
		r := newReplay(t, newDay(sessions, noon), attribution.Options{MaxBytes: small, All: true})
		r.run(sessions)
		r.hold(small)
	})
}
