package attribution_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// world is a made-up cluster's day: what each log says, and who really did what.
type world struct {
	audits  []attribution.Audit
	records []attribution.Record
	events  []attribution.Event
	truth   map[string]string // event's Command to the user who did it; absent for the container's own
	spoofed map[string]bool   // event's Command, when it claims what is not its own
	plain   map[string]bool   // event's Command, of a session with an ID of its own, not spoofed, not reused

	random  *rand.Rand
	clock   time.Time
	ticks   uint64
	serial  int
	byPID   map[string][]int // node to PIDs in use
	journal bool
	agent   int  // 0: ticks, 1: exec IDs of images
	honest  bool // no client reuses an ID
}

var dawn = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

func newWorld(seed uint64, sessions int, honest bool) *world {
	w := &world{
		truth: map[string]string{}, spoofed: map[string]bool{}, plain: map[string]bool{},
		random: rand.New(rand.NewPCG(seed, 1)), clock: dawn, ticks: 1000, byPID: map[string][]int{}, honest: honest,
	}
	w.journal, w.agent = true, int(seed/2%2)
	var ids []string
	for i := range sessions {
		ids = append(ids, w.session(i, ids))
		w.clock = w.clock.Add(time.Duration(w.random.IntN(5000)) * time.Millisecond)
		if w.random.IntN(4) == 0 {
			w.native(ids)
		}
	}
	return w
}

// proc is a process of the world.
type proc struct {
	id, parent     attribution.Process
	pod            int
	claim, user    string
	real           string // the session's own ID
	outside, first bool
	spoof, plain   bool
}

func (w *world) node(pod int) string { return fmt.Sprintf("n%d", pod%2) }

func (w *world) containerID(pod int) string {
	return strings.Repeat(fmt.Sprintf("%02xcafe", pod+16), 11)[:64]
}

// identity draws a PID from few, so that numbers are used again all the time.
func (w *world) identity(node string) attribution.Process {
	w.ticks++
	w.serial++
	p := attribution.Process{PID: 100 + w.random.IntN(12), StartTicks: w.ticks, BootID: "boot"}
	for slices.Contains(w.byPID[node], p.PID) {
		p.PID++
	}
	w.byPID[node] = append(w.byPID[node], p.PID)
	if w.agent == 1 {
		p.ExecID = fmt.Sprintf("%s:%d", node, w.serial)
		p.StartTicks, p.BootID = 0, ""
	}
	return p
}

func (w *world) tick() time.Time {
	w.clock = w.clock.Add(time.Duration(1+w.random.IntN(40)) * time.Millisecond)
	return w.clock
}

func (w *world) emit(p *proc, kind attribution.Kind, claims bool) {
	w.serial++
	e := attribution.Event{
		Time: w.tick(), Kind: kind, Agent: "test", Node: w.node(p.pod), ContainerID: w.containerID(p.pod)[:12+w.random.IntN(40)],
		Process: p.id, Parent: p.parent, ParentOutside: p.outside, Command: fmt.Sprintf("event-%d", w.serial),
	}
	if p.outside || w.honest || w.random.IntN(2) == 0 {
		e.Namespace, e.Pod, e.Container = "shop", fmt.Sprintf("web-%d", p.pod), "app"
	}
	if claims {
		e.AuditID = p.claim
		e.FirstImage = p.first && kind == attribution.KindExec
	}
	w.events = append(w.events, e)
	if p.user != "" {
		w.truth[e.Command] = p.user
	}
	w.spoofed[e.Command] = p.spoof && claims
	w.plain[e.Command] = p.plain && !p.spoof
}

// session opens an exec session with a tree of processes and returns its ID.
func (w *world) session(i int, earlier []string) string {
	user := fmt.Sprintf("user-%d", i)
	id := fmt.Sprintf("id-%d", i)
	pod := w.random.IntN(4)
	plain := true
	reuse := w.random.IntN(12)
	switch {
	case reuse == 0:
		id, plain = placeholder, false
	case reuse == 1 && len(earlier) > 0 && !w.honest:
		id, plain = earlier[w.random.IntN(len(earlier))], false
		w.clock = w.clock.Add(10 * time.Minute) // no two requests of one ID look alike in time
		for c := range w.plain {
			w.plain[c] = w.plain[c] && !w.claimed(c, id)
		}
	}
	w.request(id, user, pod)
	root := &proc{id: w.identity(w.node(pod)), pod: pod, claim: id, real: id, user: user, outside: true, first: true, plain: plain}
	root.parent = attribution.Process{PID: 1, StartTicks: 1, BootID: "boot"}
	if w.agent == 1 {
		root.parent = attribution.Process{PID: 1, ExecID: "shim"}
	}
	session := attribution.Record{
		Node: w.node(pod), ContainerID: w.containerID(pod), ExecID: fmt.Sprintf("exec-%d", i), AuditID: id,
		Namespace: "shop", Pod: fmt.Sprintf("web-%d", pod), Container: "app",
	}
	process := root.id
	process.ExecID, process.BootID = "", "boot"
	if process.StartTicks == 0 {
		process.StartTicks = w.ticks
	}
	w.record(session, attribution.PhaseIntent, attribution.Process{})
	w.emit(root, attribution.KindExec, true)
	w.record(session, attribution.PhaseStart, process)
	w.tree(root, earlier, 0)
	w.emit(root, attribution.KindExit, false)
	w.free(root)
	w.record(session, attribution.PhaseEnd, process)
	if w.random.IntN(3) > 0 {
		w.stage(attribution.StageResponseComplete)
	}
	return id
}

func (w *world) claimed(command, id string) bool {
	for i := range w.events {
		if w.events[i].Command == command {
			return w.truth[command] != "" && w.sessionOf(w.truth[command]) == id
		}
	}
	return false
}

func (w *world) sessionOf(user string) string {
	for i := range w.audits {
		if w.audits[i].User.Name == user {
			return w.audits[i].AuditID
		}
	}
	return ""
}

func (w *world) free(p *proc) {
	node := w.node(p.pod)
	w.byPID[node] = slices.DeleteFunc(w.byPID[node], func(pid int) bool { return pid == p.id.PID })
}

// tree makes a process's children, some with another's ID.
func (w *world) tree(parent *proc, others []string, depth int) {
	if depth == 4 {
		return
	}
	for range w.random.IntN(3) {
		child := &proc{id: w.identity(w.node(parent.pod)), parent: parent.id, pod: parent.pod, claim: parent.claim, real: parent.real, user: parent.user, first: true, plain: parent.plain}
		if w.random.IntN(10) == 0 && len(others) > 0 {
			child.claim = others[w.random.IntN(len(others))]
		}
		child.spoof = child.claim != child.real
		if w.agent == 0 {
			w.emit(child, attribution.KindFork, false)
		}
		w.emit(child, attribution.KindExec, true)
		w.tree(child, others, depth+1)
		if w.random.IntN(5) > 0 { // else it outlives the session
			w.emit(child, attribution.KindExit, false)
			w.free(child)
		}
	}
}

// native makes a process of the container itself that claims a session's ID.
func (w *world) native(ids []string) {
	pod := w.random.IntN(4)
	p := &proc{id: w.identity(w.node(pod)), pod: pod, claim: ids[w.random.IntN(len(ids))], spoof: true, first: true}
	p.parent = attribution.Process{PID: 7, StartTicks: 7, BootID: "boot"}
	if w.agent == 1 {
		p.parent = attribution.Process{PID: 7, ExecID: "entrypoint"}
	}
	w.emit(p, attribution.KindExec, true)
	w.emit(p, attribution.KindExit, false)
	w.free(p)
}

func (w *world) request(id, user string, pod int) {
	at := w.tick()
	w.audits = append(w.audits, attribution.Audit{
		AuditID: id, User: attribution.User{Name: user, Groups: []string{"dev"}}, Namespace: "shop", Pod: fmt.Sprintf("web-%d", pod), Container: "app",
		Command: []string{"sh"}, Received: at, At: at,
	})
	w.stage(attribution.StageResponseStarted)
}

// stage repeats the last request at a later stage.
func (w *world) stage(s attribution.Stage) {
	a := w.audits[len(w.audits)-1]
	a.Stage, a.Code, a.At = s, 101, w.tick()
	w.audits = append(w.audits, a)
}

func (w *world) record(r attribution.Record, phase attribution.Phase, p attribution.Process) {
	r.Phase, r.Process, r.Time = phase, p, w.tick()
	if w.journal {
		w.records = append(w.records, r)
	}
}

// held never answers before Flush.
// placeholder is the audit ID of a session whose API server had none (KEP-6035, Audit ID Propagation).
const placeholder = "unknown"

var held = attribution.Options{Window: attribution.Forever, All: true, MaxBytes: 1 << 30}

// feed is one piece of evidence.
type feed func(*attribution.Machine)

func (w *world) feeds() []feed {
	var all []feed
	for i := range w.audits {
		all = append(all, func(m *attribution.Machine) { m.AddAudit(&w.audits[i]) })
	}
	for i := range w.records {
		all = append(all, func(m *attribution.Machine) { m.AddRecord(&w.records[i]) })
	}
	for i := range w.events {
		all = append(all, func(m *attribution.Machine) { m.AddEvent(&w.events[i]) })
	}
	return all
}

// answers runs the feeds through a machine.
func answers(o attribution.Options, feeds []feed) []attribution.Answer {
	var out []attribution.Answer
	m := attribution.New(o, func(a *attribution.Answer) { out = append(out, *a) })
	for _, f := range feeds {
		f(m)
	}
	m.Flush()
	return out
}

// text tells answers apart.
func text(answers []attribution.Answer) []string {
	var out []string
	for _, a := range answers {
		line := fmt.Sprintf("%s %s %s %s %q %s", a.Event.Time.Format(time.StampNano), a.Event.Node, a.Event.Command, a.Verdict, a.AuditID, a.Reason)
		for _, s := range append([]*attribution.Session{a.Session}, a.Claims...) {
			if s != nil {
				line += fmt.Sprintf(" %s %s %v %v", s.User.Name, s.Received, s.Started, s.Completed)
			}
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func timeOf(nano int64) time.Time { return time.Unix(0, nano).UTC() }
