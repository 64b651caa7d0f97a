package world

import (
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// session is one exec as the runtime carries it out.
type session struct {
	request   int // its number; 0 for an exec that no audit event tells of
	plain     bool
	asked     *request // nil without an audit event
	node      *node
	container *container
	record    attribution.Record
	recorded  bool
	marked    bool
	env       environment
	runc      *task
	first     *task
	phase     phase
	due       time.Duration // of the next phase
	journaled bool          // the intent was written, and no end yet
	refused   bool          // by the runtime, before it wrote the intent: the request was not upgraded
}

// phase is what the runtime does next.
type phase uint8

const (
	phaseIntent phase = iota
	phaseClone
	phaseExec
	phaseStart
	phaseRun
	phaseComplete
	phaseOver
)

// bridged reports whether the node's runtime is wrapped: then sessions have an ID of the bridge.
func (n *node) bridged() bool {
	return n.Mark == MarkOwn && n.name[len(n.name)-1]%2 == 0
}

// open starts the runtime's part of an exec into c. asked is nil for one that the API server did not see.
func (n *node) open(c *container, asked *request, env environment) *session {
	w := n.world
	w.sessions++
	s := &session{node: n, container: c, asked: asked, env: env, due: w.now + w.delay(), recorded: n.Journal, marked: n.Mark == MarkOwn}
	if asked != nil {
		s.request, s.plain = asked.number, asked.known()
	}
	if n.Mark == MarkOwn && (asked == nil || w.chance(1, 20)) {
		s.marked, s.plain = false, false // of a pod that opted out, or that the webhook did not see
		s.recorded = s.recorded && (asked != nil || w.chance(1, 2))
	}
	s.record = attribution.Record{
		Node: n.name, ContainerID: c.id, ExecID: fmt.Sprintf("exec-%d", w.sessions), AuditID: env.auditID, ExecSession: env.execSession,
		Namespace: namespace, Pod: c.pod.name, Container: c.name, Command: []string{"sh"},
	}
	n.sessions = append(n.sessions, s)
	return s
}

// step does the next phase, whose time has come.
func (s *session) step() {
	w := s.node.world
	s.due = w.now + w.delay()
	switch s.phase {
	case phaseIntent:
		s.intend()
	case phaseClone:
		s.clone()
	case phaseExec:
		s.exec()
	case phaseStart:
		s.start()
	case phaseComplete:
		if s.asked != nil {
			s.asked.reach(w, attribution.StageResponseComplete, s.code(), s.bridgeID())
		}
		s.phase = phaseOver
	}
}

// intend forks runc, which a wrapper marks, and writes the intent.
func (s *session) intend() {
	n := s.node
	if n.down || s.restarted() {
		s.refuse()
		return
	}
	if s.runc = n.kernel.fork(s.container.pod.shim, clone{runc: s}); s.runc == nil {
		s.refuse()
		return
	}
	if s.marked {
		n.kernel.setLoginUID(s.runc, 2013265920+uint32(n.world.sessions))
		s.setMark()
	}
	s.write(attribution.PhaseIntent, attribution.Process{BootID: s.markBoot()}, false)
	s.journaled = true
	s.phase = phaseClone
}

func (s *session) setMark() {
	s.record.SessionID, s.record.LoginUID = s.runc.auditSID, s.runc.loginUID
}

func (s *session) markBoot() string {
	if s.record.SessionID == 0 {
		return ""
	}
	return s.node.kernel.bootID
}

// clone is runc's way into the container: two clones with CLONE_PARENT, each by the one before.
func (s *session) clone() {
	k := s.node.kernel
	if s.restarted() {
		s.fail()
		return
	}
	outer := k.fork(s.runc, clone{moved: true, into: s.container})
	if outer == nil {
		s.fail()
		return
	}
	outer.privileged = s.container.pod.privileged
	if !s.container.pod.hostPID {
		outer.namespace = s.container
	}
	middle := k.fork(outer, clone{parent: true})
	if middle != nil {
		s.first = k.fork(middle, clone{parent: true})
	}
	for _, t := range []*task{outer, middle} {
		if t != nil {
			k.exit(t)
			k.reap(t)
		}
	}
	if s.first == nil {
		s.fail()
		return
	}
	s.first.strayed = false
	s.phase = phaseExec
	if s.asked != nil {
		s.asked.reach(s.node.world, attribution.StageResponseStarted, 101, s.bridgeID())
	}
}

// restarted reports whether the container is another than the one that was asked for.
func (s *session) restarted() bool {
	return s.container.init == nil || s.container.id != s.record.ContainerID
}

func (s *session) bridgeID() string { return s.record.ExecSession }

// exec starts the program; runc leaves it to the shim before or after.
func (s *session) exec() {
	early := s.node.world.chance(1, 2)
	if early {
		s.leave()
	}
	if !s.first.zombie {
		s.node.kernel.exec(s.first, s.env)
		s.container.learn(s.env)
		s.node.world.started(s)
	}
	if !early {
		s.leave()
	}
	s.phase = phaseStart
}

// leave ends runc.
func (s *session) leave() {
	if !s.runc.zombie {
		s.node.kernel.exit(s.runc)
		s.node.kernel.reap(s.runc)
	}
}

// start writes the start, unless the process was gone so soon that nobody saw its PID.
func (s *session) start() {
	if s.node.Mark == MarkShared {
		s.record.SessionID, s.record.LoginUID = s.first.auditSID, s.first.loginUID
		if s.record.SessionID == unset {
			s.record.SessionID, s.record.LoginUID = 0, 0
		}
	}
	s.phase = phaseRun
	switch {
	case !s.first.zombie:
		s.write(attribution.PhaseStart, s.process(), false)
	case !s.reaped() && !s.node.down && s.node.world.chance(1, 2):
		s.write(attribution.PhaseStart, s.process(), false)
		s.ended(s.process(), false)
	default:
		s.ended(attribution.Process{}, true)
	}
}

func (s *session) reaped() bool {
	return s.node.kernel.table[s.first.pid-firstPID] != s.first
}

func (s *session) process() attribution.Process {
	return attribution.Process{PID: s.first.pid, StartTicks: s.first.ticks, BootID: s.node.kernel.bootID}
}

// exited is told at once of the first process's exit, before its PID is free.
func (s *session) exited() {
	if s.phase == phaseRun && !s.node.down {
		s.ended(s.process(), false)
	}
}

// recover finds out what exited while the runtime was down.
func (s *session) recover() {
	if s.phase == phaseRun && s.first.zombie {
		s.ended(s.process(), true)
	}
}

// ended writes the end. lost says that its time is not the process's.
func (s *session) ended(p attribution.Process, lost bool) {
	s.write(attribution.PhaseEnd, p, lost)
	s.journaled = false
	s.phase, s.due = phaseComplete, s.node.world.now+s.node.world.delay()
}

// refuse is a session of which a kubelet that asks the runtime first gets an error: the API server upgrades nothing. Were it
// upgraded, then whoever reused its ID past the API server could not be told from it.
func (s *session) refuse() {
	s.refused = true
	s.fail()
}

// code is the request's at its end.
func (s *session) code() int {
	if s.refused {
		return 500
	}
	return 101
}

// fail ends a session that never was.
func (s *session) fail() {
	if s.runc != nil {
		s.leave()
	}
	s.phase = phaseComplete
}

// lost is the end of the node's boot: of half of the sessions the runtime finds out later.
func (s *session) lost() {
	if s.journaled && s.first != nil && s.node.world.chance(1, 2) {
		s.write(attribution.PhaseEnd, s.process(), true)
	}
	if s.asked != nil && s.node.world.chance(1, 2) {
		s.asked.reach(s.node.world, attribution.StageResponseComplete, 101, s.bridgeID())
	}
}

func (s *session) write(phase attribution.Phase, p attribution.Process, lost bool) {
	if !s.recorded {
		return
	}
	r := s.record
	r.Phase, r.Process, r.Lost, r.Time = phase, p, lost, s.node.clock()
	if phase != attribution.PhaseIntent {
		r.Command = nil
	}
	s.node.world.send(Piece{Record: &r}, s.node.world.soon())
}
