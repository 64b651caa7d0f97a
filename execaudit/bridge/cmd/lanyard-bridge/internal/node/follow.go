//go:build linux

package node

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
)

// When to look into /proc again. One look serves all sessions that wait for one.
//
// The first look comes with the record, gather after it was made, and mostly finds the first process, left to the shim.
// Where the runtime is at work still, its end is awaited, and a second look finds the process then. Where the runtime
// stays (in the foreground, under conmon), the looks of whileRuntime find the process beside it. The mark is older than
// the record, so a look that shows nothing says that the session is over, unless a process was born and another ended
// while it was at work: a second one, untilLost later, decides. In the host's PID namespace a process must still be
// there after untilSure.
var (
	whileRuntime = [...]time.Duration{10 * time.Millisecond, 40 * time.Millisecond, 160 * time.Millisecond, 640 * time.Millisecond, 2500 * time.Millisecond}
	untilSure    = 50 * time.Millisecond
	untilLost    = 50 * time.Millisecond
)

// Why a session's end has no exit code.
const (
	lostUnseen  = "it ended, or failed to start, before it was seen"
	lostLeft    = "it ended before it was seen; processes of its session go on"
	lostAway    = "it ended while nobody was looking"
	lostBoot    = "the node was started anew"
	lostCode    = "it ended; the kernel told its exit code to its parent only"
	lostMark    = "not followed: it has no mark"
	lostUnwatch = "not followed: the kernel gives no notice of its end"
	lostReaped  = "its PID was free before its end was seen"
)

// resume goes on with a session after the journal was read.
func (d *daemon) resume(e *entry) {
	switch {
	case e.ended || e.follow.watched:
	case e.process.SessionID == 0:
		d.lose(e, lostMark)
	case e.process.BootID != d.boot:
		d.lose(e, lostBoot)
	case e.process.PID > 0:
		d.watchFirst(e, lostAway)
	default:
		d.lookAt(e, d.now())
	}
}

func (d *daemon) lookAt(e *entry, at time.Time) {
	e.follow.next = at
	d.pending[e.key] = e
}

// follow looks into /proc if a session's look is due, and sets the timer for the next.
func (d *daemon) follow() {
	now := d.now()
	due := map[uint32]*entry{}
	containers := map[uint32]string{}
	for _, e := range d.pending {
		if e.follow.next.IsZero() || e.follow.next.After(now) || d.byPIDFile(e) {
			continue
		}
		due[e.process.SessionID], containers[e.process.SessionID] = e, e.session.ContainerID
	}
	if len(due) > 0 {
		sights, err := d.proc.Look(containers)
		if err != nil {
			d.log.Error("/proc cannot be read", "error", err)
		}
		for id, e := range due {
			d.saw(e, sights[id])
		}
	}
	d.schedule()
}

// schedule sets the timer for the earliest look.
func (d *daemon) schedule() {
	d.look.Stop()
	var next time.Time
	for k, e := range d.pending {
		at := e.follow.next
		if at.IsZero() {
			delete(d.pending, k)
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if !next.IsZero() {
		d.look.Reset(next.Sub(d.now()))
	}
}

// saw takes in one look.
func (d *daemon) saw(e *entry, s proc.Sight) {
	f := &e.follow
	f.next = time.Time{}
	switch {
	case s.First != nil && s.First.Levels == 1 && f.candidate != s.First.PID:
		f.candidate = s.First.PID
		d.lookAt(e, d.now().Add(untilSure))
	case s.First != nil:
		d.start(e, *s.First)
	case len(s.Runtime) > 0:
		f.nothing = false
		watched := d.watchRuntime(e, s.Runtime)
		if f.looks < len(whileRuntime) || !watched {
			d.lookAt(e, d.now().Add(whileRuntime[min(f.looks, len(whileRuntime)-1)]))
			f.looks++
		}
	case f.nothing:
		reason := lostUnseen
		if s.Others {
			reason = lostLeft
		}
		d.lose(e, reason)
	default:
		d.lookAt(e, d.now().Add(untilLost))
		f.nothing = true
	}
}

// start notes the first process, and waits for its end.
func (d *daemon) start(e *entry, t proc.Task) {
	e.start(t.PID, t.StartTicks, d.now())
	d.queue(e)
	if !t.Zombie {
		d.watchFirst(e, lostCode)
		return
	}
	exit, ok := d.exits.Zombie(t.PID, t.StartTicks)
	if !ok {
		exit.Code = d.exits.Code(t)
	}
	d.ended(e, exit)
}

// ended notes how the first process ended. Where that was seen too late, another process may have had its PID by now.
func (d *daemon) ended(e *entry, exit proc.Exit) {
	at, reason := exit.Seen, ""
	switch {
	case at.IsZero():
		at, reason = d.now(), lostReaped
	case exit.Code == nil:
		reason = lostCode
	}
	e.end(exit.Code, reason, at)
	d.queue(e)
}

// watchFirst waits for the end of the first process; gone says why its exit code is not known where it has ended.
func (d *daemon) watchFirst(e *entry, gone string) {
	e.follow.next = time.Time{}
	switch err := d.watch(e.process.PID, e.process.StartTicks, watch{entry: e}); {
	case err == nil:
		e.follow.watched = true
	case errors.Is(err, proc.ErrNoProcess):
		d.lose(e, gone)
	default:
		d.log.Error("a session's process cannot be watched", "pid", e.process.PID, "error", err)
		d.lose(e, lostUnwatch)
	}
}

// watchRuntime waits for the end of the runtime that sets a session up, which is the oldest of its processes. It
// returns false if that cannot be: it has ended by now.
func (d *daemon) watchRuntime(e *entry, tasks []proc.Task) bool {
	oldest := tasks[0]
	for _, t := range tasks {
		if t.StartTicks < oldest.StartTicks || t.StartTicks == oldest.StartTicks && t.PID == oldest.PPID {
			oldest = t
		}
	}
	if _, ok := d.watched[watched{oldest.PID, oldest.StartTicks}]; ok {
		return true
	}
	return d.watch(oldest.PID, oldest.StartTicks, watch{entry: e, runtime: true}) == nil
}

func (d *daemon) watch(pid int, startTicks uint64, w watch) error {
	err := d.exits.Watch(pid, startTicks)
	if err == nil {
		d.watched[watched{pid, startTicks}] = w
	}
	return err
}

// exited takes in the end of a process that was watched.
func (d *daemon) exited(exit proc.Exit) {
	at := watched{exit.PID, exit.StartTicks}
	w, ok := d.watched[at]
	delete(d.watched, at)
	switch e := w.entry; {
	case !ok || e.ended:
	case w.runtime && e.process.PID == 0:
		d.lookAt(e, d.now())
	case !w.runtime:
		d.ended(e, exit)
	}
}

// lose notes the end of a session that nobody saw.
func (d *daemon) lose(e *entry, reason string) {
	e.end(nil, reason, d.now())
	d.queue(e)
}

// maxPIDFile is the most of a PID file that is read.
const maxPIDFile = 32

// byPIDFile begins a session by the runtime's own word, where that is written and the process has the session's mark.
func (d *daemon) byPIDFile(e *entry) bool {
	if e.pidFile == "" {
		return false
	}
	file, err := os.OpenFile(d.host(e.pidFile), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPIDFile))
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 2 {
		return false
	}
	task, err := d.proc.Task(pid)
	if err != nil {
		return false
	}
	if session, _, err := d.proc.Mark(pid); err != nil || session != e.process.SessionID {
		return false
	}
	d.start(e, task)
	return true
}
