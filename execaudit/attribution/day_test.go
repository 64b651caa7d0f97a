package attribution_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// sessionsADay is the load of a large fleet: a million exec sessions between midnight and midnight, twice as many an
// hour at noon as on average.
const sessionsADay = 1_000_000

// day makes up the evidence of a stretch of such a day, in the order of time, and holds no more of it than what is open.
type day struct {
	sessions int // that are still to begin
	begun    int
	clock    time.Time // when the next session begins
	random   *rand.Rand
	due      appointments
	order    int
	ticks    uint64

	audit  func(*attribution.Audit)
	record func(*attribution.Record)
	event  func(*attribution.Event)
}

// newDay returns the day from a time on; for a million sessions from midnight it is a whole one.
func newDay(sessions int, from time.Time) *day {
	return &day{sessions: sessions, clock: from, random: rand.New(rand.NewPCG(19, 1)), ticks: 1000}
}

// appointment is something to do at a time.
type appointment struct {
	at    time.Time
	order int
	do    func(time.Time)
}

type appointments []appointment

func (a appointments) Len() int { return len(a) }
func (a appointments) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].order < a[j].order
}
func (a appointments) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *appointments) Push(x any)   { *a = append(*a, x.(appointment)) }
func (a *appointments) Pop() any {
	last := (*a)[len(*a)-1]
	(*a)[len(*a)-1] = appointment{}
	*a = (*a)[:len(*a)-1]
	return last
}

func (d *day) at(t time.Time, do func(time.Time)) {
	d.order++
	heap.Push(&d.due, appointment{t, d.order, do})
}

// next makes the next thing happen and returns its time, false when the last session is over.
func (d *day) next() (time.Time, bool) {
	if d.sessions > 0 && (len(d.due) == 0 || d.clock.Before(d.due[0].at)) {
		d.begin(d.clock)
		d.sessions--
		d.begun++
		d.clock = d.clock.Add(d.gap())
	}
	if len(d.due) == 0 {
		return time.Time{}, false
	}
	a := heap.Pop(&d.due).(appointment)
	a.do(a.at)
	return a.at, true
}

// gap returns the time to the next session: short at noon, long at night.
func (d *day) gap() time.Duration {
	const mean = 24 * time.Hour / sessionsADay
	noon := 12 - d.clock.Sub(d.clock.Truncate(24*time.Hour)).Hours()
	rate := 2 - max(noon, -noon)/6 // 0 at midnight, 2 at noon, 1 on average
	return time.Duration(float64(mean) / max(rate, 0.05) * d.random.ExpFloat64())
}

// visit is one session: a shell that runs some commands.
type visit struct {
	number     int
	id, bridge string
	node       string
	container  string
	namespace  string
	pod        string
	shell      attribution.Process
	mark       uint32
	received   time.Time
}

func visitor(number int) string { return fmt.Sprintf("user-%d@example.com", number%997) }

// begin plans a session. On nodes of odd number it has a mark; on the others the process tree alone leads to it.
func (d *day) begin(t time.Time) {
	pod := d.random.IntN(20_000)
	v := &visit{
		number: d.begun, id: fmt.Sprintf("%08x-5d6e-4f70-8192-a3b4c5d6e7f8", d.begun), node: fmt.Sprintf("node-%03d.cluster.example", pod%250),
		container: fmt.Sprintf("%08x762eafc25a35ab90089f79703b86659989e8e547c2c029fb60f55d88", uint32(pod)*2654435761),
		namespace: fmt.Sprintf("shop-%02d", pod%40), pod: fmt.Sprintf("web-%05d", pod), received: t,
	}
	v.shell = d.process()
	if pod%2 == 1 {
		v.mark = uint32(d.begun + 1)
		v.bridge = fmt.Sprintf("%08x-0000-4000-8000-000000000000", d.begun+1)
	}
	lasts := time.Duration(d.random.ExpFloat64() * float64(30*time.Second))
	if d.random.IntN(100) == 0 {
		lasts += time.Duration(d.random.IntN(3600)) * time.Second
	}
	lasts += 100 * time.Millisecond
	d.at(t, func(t time.Time) { d.stage(v, attribution.StageRequestReceived, t) })
	d.at(t.Add(20*time.Millisecond), func(t time.Time) { d.stage(v, attribution.StageResponseStarted, t) })
	d.at(t.Add(40*time.Millisecond), func(t time.Time) { d.journal(v, attribution.PhaseIntent, t) })
	d.at(t.Add(45*time.Millisecond), func(t time.Time) {
		d.journal(v, attribution.PhaseStart, t)
		d.ran(v, v.shell, attribution.Process{PID: 700, StartTicks: 70, BootID: v.node}, attribution.KindExec, t)
	})
	if d.random.IntN(2) == 0 {
		d.at(t, func(t time.Time) { d.native(v, t) })
	}
	for range d.random.IntN(4) {
		d.command(v, t.Add(50*time.Millisecond+time.Duration(d.random.Int64N(int64(lasts)))))
	}
	d.at(t.Add(50*time.Millisecond+lasts), func(t time.Time) {
		d.ran(v, v.shell, attribution.Process{}, attribution.KindExit, t)
		d.journal(v, attribution.PhaseEnd, t.Add(time.Millisecond))
		d.stage(v, attribution.StageResponseComplete, t.Add(5*time.Millisecond))
	})
}

// process numbers them as a kernel does: a PID comes round, a start does not.
func (d *day) process() attribution.Process {
	d.ticks++
	return attribution.Process{PID: 1000 + int(d.ticks%31_000), StartTicks: d.ticks, BootID: "0c5c2d5e-6c1f-4d64-9d3a-5b8d0a3f8a01"}
}

// command plans a child of the shell: a fork, an exec and an exit.
func (d *day) command(v *visit, t time.Time) {
	p := d.process()
	d.at(t, func(t time.Time) { d.ran(v, p, v.shell, attribution.KindFork, t) })
	d.at(t.Add(time.Millisecond), func(t time.Time) { d.ran(v, p, attribution.Process{}, attribution.KindExec, t) })
	d.at(t.Add(30*time.Millisecond), func(t time.Time) { d.ran(v, p, attribution.Process{}, attribution.KindExit, t) })
}

func (d *day) stage(v *visit, s attribution.Stage, t time.Time) {
	code := 0
	if s > attribution.StageRequestReceived {
		code = 101
	}
	d.audit(&attribution.Audit{
		AuditID: v.id, ExecSession: v.bridge, Stage: s, Code: code, Received: v.received, At: t, Namespace: v.namespace, Pod: v.pod, Container: "app",
		User:      attribution.User{Name: visitor(v.number), UID: fmt.Sprintf("u-%d", v.number%997), Groups: []string{"dev", "system:authenticated"}},
		SourceIPs: []string{"203.0.113.9"}, UserAgent: "kubectl/v1.36.0 (linux/amd64) kubernetes/abcdef0123456789", Command: []string{"sh", "-c", "id"},
	})
}

func (d *day) journal(v *visit, phase attribution.Phase, t time.Time) {
	r := attribution.Record{
		Phase: phase, Time: t, Node: v.node, ContainerID: v.container, ExecID: v.id, AuditID: v.id, ExecSession: v.bridge,
		Namespace: v.namespace, Pod: v.pod, Container: "app", Process: v.shell, SessionID: v.mark,
	}
	if v.mark > 0 {
		r.AuditID, r.LoginUID = "", 2013265920+v.mark%1_000_000
	}
	if phase == attribution.PhaseIntent {
		r.Process, r.Command = attribution.Process{BootID: v.shell.BootID}, []string{"sh", "-c", "id"}
	}
	d.record(&r)
}

// native tells a process of the container's own, in no session.
func (d *day) native(v *visit, t time.Time) {
	e := attribution.Event{Time: t, Kind: attribution.KindExec, Agent: "procevents", Node: v.node, ContainerID: v.container, Process: d.process(), Command: "native"}
	d.event(&e)
	e.Kind, e.Time, e.Command = attribution.KindExit, t.Add(20*time.Millisecond), "native, over"
	d.event(&e)
}

// ran tells an event of the session, which the command tells, kind and number.
func (d *day) ran(v *visit, p, parent attribution.Process, kind attribution.Kind, t time.Time) {
	d.event(&attribution.Event{
		Time: t, Kind: kind, Agent: "procevents", Node: v.node, ContainerID: v.container, Process: p, Parent: parent,
		SessionID: v.mark, Command: fmt.Sprintf("%s %d", kind, v.number),
	})
}
