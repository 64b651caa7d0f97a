package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/redact"
)

// step is something that a Tracker is given.
type step struct {
	observation *agent.Observation
	record      *journal.Record
}

// merged returns the lists' elements in an order that keeps each list's.
func merged[T any](t *rapid.T, label string, lists ...[]T) []T {
	var all []T
	lists = slices.Clone(lists)
	for len(lists) > 0 {
		i := rapid.IntRange(0, len(lists)-1).Draw(t, label)
		if len(lists[i]) == 0 {
			lists = slices.Delete(lists, i, i+1)
			continue
		}
		all = append(all, lists[i][0])
		lists[i] = lists[i][1:]
	}
	return all
}

func inContainer(mark int) string { return strings.Repeat(fmt.Sprintf("%x", mark%16), 64) }

// sessions returns the observations and the records of some sessions, a list for each.
func sessions(t *rapid.T) (observations []([]step), records []([]step)) {
	for mark := range rapid.IntRange(1, 4).Draw(t, "sessions") {
		mark++
		in, base := inContainer(mark), mark*100
		var made []step
		for _, o := range exec(uint32(mark), base, in) {
			o.Env = redact.NewBytes([]byte(fmt.Sprintf("A=b\x00KUBERNETES_EXEC_AUDIT_ID=audit-%d\x00", mark)))
			made = append(made, step{observation: o})
		}
		first := journal.Process{
			PID: base + 2, StartTicks: uint64(base+2) * 100, BootID: boot, SessionID: uint32(mark),
			LoginUID: login,
		}
		start := journal.Start(session(fmt.Sprint("e", mark), in), first, booted)
		records = append(records, []step{{record: intent(fmt.Sprint("e", mark), uint32(mark), in)}, {record: &start}})
		observations = append(observations, made)
	}
	return observations, records
}

// numbered gives the observations the numbers of one CPU, in their order.
func numbered(steps []step) {
	var sequence [3]uint64
	for _, s := range steps {
		if s.observation != nil {
			sequence[s.observation.Kind]++
			s.observation.Sequence = sequence[s.observation.Kind]
		}
	}
}

func (t *told) take(steps []step) {
	for _, s := range steps {
		if s.observation != nil {
			t.Observe(s.observation)
		} else {
			t.AddRecord(s.record)
		}
	}
}

// lines returns the lines of each mark.
func (t *told) lines() map[uint32]string {
	all := map[uint32]string{}
	for i := range t.events {
		e := &t.events[i]
		all[e.SessionID] += string(e.AppendLine(nil))
	}
	return all
}

func TestTrackerLaws(t *testing.T) {
	t.Run("AGT-3 a record that comes within Hold, or comes twice, gives the same lines as one that came first",
		func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				observations, records := sessions(t)
				order := merged(t, "observation", observations...)
				numbered(order)
				var intents []step
				for _, r := range records {
					intents = append(intents, r[0])
				}
				first, late := track(agent.Options{}), track(agent.Options{})
				first.take(intents)
				first.take(order)
				now := booted.Add(time.Hour)
				late.Advance(now)
				for _, s := range merged(t, "record", order, intents, slices.Clone(intents)) {
					late.take([]step{s})
					late.Advance(now.Add(time.Duration(rapid.Int64Range(0, int64(agent.DefaultHold)-1).Draw(t, "now"))))
				}
				first.Flush(now)
				late.Flush(now)
				for mark, want := range first.lines() {
					if got := late.lines()[mark]; got != want {
						t.Fatalf("mark %d: lines\n%swant\n%s", mark, got, want)
					}
				}
				if len(first.events) != len(order) || len(late.events) != len(order) || late.of() != "" {
					t.Fatalf("%d and %d events of %d, notices %s", len(first.events), len(late.events), len(order), late.of())
				}
			})
		})
	t.Run("AGT-2 whatever is lost or cut, no session is invented, and nothing is said that was not seen",
		func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				observations, records := sessions(t)
				order := merged(t, "observation", observations...)
				numbered(order)
				order = slices.DeleteFunc(order, func(step) bool { return rapid.IntRange(0, 3).Draw(t, "lost") == 0 })
				for _, s := range order {
					env := s.observation.Env.Reveal()
					s.observation.Env = redact.NewBytes(env[:rapid.IntRange(0, len(env)).Draw(t, "cut")])
				}
				k := track(agent.Options{})
				lost := rapid.IntRange(0, len(records)).Draw(t, "records lost")
				k.take(merged(t, "record", append(slices.Clone(records[lost:]), order)...))
				k.Flush(booted)
				if len(k.events) != len(order) {
					t.Fatalf("%d events of %d", len(k.events), len(order))
				}
				for _, e := range k.events {
					id := fmt.Sprint("audit-e", e.SessionID)
					if e.Session != nil && (e.Session.AuditID != id || e.Session.ContainerID != inContainer(int(e.SessionID))) {
						t.Fatalf("mark %d has the session %+v", e.SessionID, e.Session)
					}
					if int(e.SessionID) <= lost && e.Session != nil || int(e.SessionID) > lost && e.Session == nil {
						t.Fatalf("mark %d has the session %+v, %d records were lost", e.SessionID, e.Session, lost)
					}
					if e.AuditID != "" && e.AuditID != fmt.Sprint("audit-", e.SessionID) {
						t.Fatalf("a claim that was cut: %q", e.AuditID)
					}
					pid := e.Process.PID % 100
					own := pid > 2 || pid == 2 && e.Kind == attribution.KindExec && e.Observation.MountNS == ownNS
					if e.Session != nil && e.Role == agent.RoleRuntime && own {
						t.Fatalf("the session's own process %d is told as the runtime's", e.Process.PID)
					}
					if second := e.FirstImage && e.Command == "sh"; second { // runc init was its first
						t.Fatalf("the second image is told as the first: %+v", e)
					}
				}
			})
		})
	t.Run("AGT-2 each observation becomes one event, in the order of its mark, within every bound", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			o := agent.Options{MaxSessions: rapid.IntRange(1, 3).Draw(t, "sessions"), MaxProcesses: rapid.IntRange(1, 3).Draw(t,
				"processes"), MaxHeldBytes: 2000}
			k := track(o)
			now := booted
			n := map[uint64]bool{}
			for i, seen := range rapid.SliceOf(observations()).Draw(t, "observations") {
				seen.Number = uint64(i + 1)
				k.Observe(seen)
				n[seen.Number] = true
				if mark := rapid.IntRange(0, 6).Draw(t, "record"); mark <= 3 {
					k.AddRecord(intent(fmt.Sprint("e", rapid.IntRange(1, 5).Draw(t, "id")), uint32(mark), inA))
				}
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "passed")))
				k.Advance(now)
				if c := k.Counts(); c.Sessions > o.MaxSessions || c.Marks > o.MaxSessions || c.Processes > o.MaxProcesses ||
					c.Held > 8 {
					t.Fatalf("Counts = %+v, options %+v", c, o)
				}
			}
			k.Flush(now)
			last := map[[2]uint32]uint64{}
			for _, e := range k.events {
				mark := [2]uint32{e.SessionID, e.LoginUID}
				if !n[e.Observation.Number] || e.Observation.Number <= last[mark] {
					t.Fatalf("observation %d of mark %v after %d, or twice", e.Observation.Number, mark, last[mark])
				}
				last[mark] = e.Observation.Number
				delete(n, e.Observation.Number)
			}
			if c := k.Counts(); len(n) != 0 || c.Held != 0 || c.Events != len(k.events) {
				t.Fatalf("not told: %v; Counts = %+v", n, c)
			}
			live := 0
			for _, s := range k.Sessions() {
				live += s.Processes
			}
			if c := k.Counts(); live > c.Processes {
				t.Fatalf("%d live processes of %d", live, c.Processes)
			}
		})
	})
}
