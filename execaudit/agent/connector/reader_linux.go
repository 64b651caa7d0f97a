package connector

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/proc"
)

// Reader is a subscription to the kernel's process events. Read is for one goroutine.
type Reader struct {
	socket    *socket
	fs        *proc.FS
	processes table
	max       int

	seen, overruns, gone, unread, forgotten atomic.Uint64

	// interrupted is the kernel's time of Interrupt, 0 without; newest that of the event that was taken last.
	interrupted atomic.Int64
	newest      int64
	closed      atomic.Bool
}

// Open begins to watch: what happens from now on is told by Read. Processes of sessions that run already are not told,
// but their exits are. The caller closes the Reader. Without CAP_NET_ADMIN the error is unix.EPERM; where the kernel
// does not answer it is ErrUnsupported.
func Open(o Options) (*Reader, error) {
	if o.MaxProcesses <= 0 {
		o.MaxProcesses = DefaultMaxProcesses
	}
	fs := proc.New(proc.Options{
		Root: o.Proc, MinLoginUID: o.MinLoginUID, MaxLoginUID: o.MaxLoginUID, ArgBytes: o.ArgBytes, EnvBytes: o.EnvBytes,
	})
	s, err := subscribe()
	if err != nil {
		return nil, err
	}
	r := &Reader{socket: s, fs: fs, processes: table{}, max: o.MaxProcesses}
	if err := fs.Walk(r.found); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return r, nil
}

func (r *Reader) found(p proc.Process) {
	var o agent.Observation
	if p.Identify(&o) == nil {
		r.enter(&o, 0)
	}
}

// Read waits for what a process of a session does next, in the kernel's order. After Interrupt the error is
// os.ErrDeadlineExceeded, once; after Close it is os.ErrClosed; else it is the socket's. The observation's bytes are
// the Reader's until the next call.
func (r *Reader) Read(o *agent.Observation) error {
	for {
		n, err := r.next()
		if errors.Is(err, unix.ENOBUFS) {
			r.overruns.Add(1)
			r.processes.doubt(r.fs)
			continue
		}
		if err != nil && r.closed.Load() {
			return os.ErrClosed
		}
		if err != nil {
			return err
		}
		if r.newest = n.since; r.take(n, o) {
			r.seen.Add(1)
			return nil
		}
	}
}

// Interrupt makes the Read that runs, or else the next one, return once what the kernel told before has been read. It
// may be called from any goroutine.
func (r *Reader) Interrupt() {
	r.interrupted.Store(monotonic())
	r.socket.wake()
}

// Counters may be called from any goroutine.
func (r *Reader) Counters() Counters {
	return Counters{
		Seen: r.seen.Load(), Overruns: r.overruns.Load(), Gone: r.gone.Load(), Unread: r.unread.Load(),
		Forgotten: r.forgotten.Load(),
	}
}

// Blind returns what cannot be seen this way, a sentence each, with what the process's rights hide besides.
func (r *Reader) Blind() []string {
	return append(slices.Clone(blind), missing()...)
}

// Close ends the subscription, and the Read that runs. It may be called from any goroutine, once.
func (r *Reader) Close() error {
	r.closed.Store(true)
	return r.socket.close()
}

// next returns what the kernel tells next.
func (r *Reader) next() (notice, error) {
	for {
		since := r.interrupted.Load()
		if since == 0 {
			n, err := r.socket.receive()
			if errors.Is(err, os.ErrDeadlineExceeded) {
				continue
			}
			return n, err
		}
		if r.newest < since {
			n, err := r.socket.waiting()
			if !errors.Is(err, unix.EAGAIN) {
				return n, err
			}
		}
		r.interrupted.Store(0)
		return notice{}, errors.Join(os.ErrDeadlineExceeded, r.socket.sleep())
	}
}

// take fills in what is told of an event, and returns false for one that is of no session, or cannot be read any more.
func (r *Reader) take(n notice, o *agent.Observation) bool {
	*o = agent.Observation{Origin: agent.OriginConnector}
	switch {
	case n.what == whatFork && n.thread != n.process:
		r.processes.thread(n.process)
	case n.what == whatFork:
		o.Kind, o.At = agent.KindFork, sinceBoot(n.since)
		return r.forked(n, o)
	case n.what == whatExec:
		o.Kind, o.At = agent.KindExec, sinceBoot(n.since)
		return r.execed(n, o)
	case n.what == whatExit:
		return r.exited(n, o)
	}
	return false
}

func (r *Reader) forked(n notice, o *agent.Observation) bool {
	delete(r.processes, n.process) // of another, whose exit was lost
	parent := r.processes[n.parent]
	if err := r.read(n.process, o); err != nil {
		if parent != nil || !errors.Is(err, proc.ErrUnmarked) {
			r.missed(parent != nil || r.marked(n.parent))
		}
		return false
	}
	if parent != nil {
		o.Parent = parent.last.Task
		// Until somebody moves it, it is where its parent is.
		o.Cgroup = cmp.Or(o.Cgroup, parent.last.Cgroup)
	} else {
		o.Parent = r.task(n.parent, o.At)
	}
	r.enter(o, 1)
	return true
}

func (r *Reader) execed(n notice, o *agent.Observation) bool {
	p := r.processes[n.process]
	err := r.read(n.process, o)
	if err == nil && p != nil && p.last.Start != o.Start {
		err = errAnother
	}
	if err != nil {
		if p != nil || !errors.Is(err, proc.ErrUnmarked) {
			r.missed(p != nil)
		}
		return false
	}
	if p == nil {
		r.enter(o, 0)
		return true
	}
	o.Parent = p.last.Parent
	// Runtimes move processes into a container, not out.
	o.Cgroup = cmp.Or(o.Cgroup, p.last.Cgroup)
	p.remember(o)
	return true
}

func (r *Reader) exited(n notice, o *agent.Observation) bool {
	p := r.processes.ended(n, r.fs)
	if p == nil {
		return false
	}
	*o = p.last
	o.Kind, o.At, o.Status = agent.KindExit, sinceBoot(n.since), n.status
	return true
}

var errAnother = errors.New("another process has the PID")

// read looks at the process that has the PID now. The error says that it is gone, is another, or has no mark.
func (r *Reader) read(pid int, o *agent.Observation) error {
	p, err := r.fs.Open(pid)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Identify(o); err != nil {
		return err
	}
	if o.Start > o.At {
		return errAnother
	}
	if o.Kind == agent.KindExec {
		p.Program(o)
	}
	return nil
}

// marked reports whether the process is of a session, as far as it can still be read.
func (r *Reader) marked(pid int) bool {
	p, err := r.fs.Open(pid)
	if err != nil {
		return false
	}
	defer p.Close()
	marked, _ := p.Marked()
	return marked
}

// task returns the process that had the PID at that time, without a start when it is gone.
func (r *Reader) task(pid int, at time.Duration) agent.Task {
	t := agent.Task{PID: pid}
	p, err := r.fs.Open(pid)
	if err != nil {
		return t
	}
	defer p.Close()
	if s, err := p.Stat(); err == nil && s.Start <= at {
		t.Start = s.Start
	}
	return t
}

// enter remembers a process of a session.
func (r *Reader) enter(o *agent.Observation, threads int) {
	if len(r.processes) >= r.max {
		r.forgotten.Add(1)
		return
	}
	p := &process{threads: threads}
	p.remember(o)
	r.processes[o.PID] = p
}

// missed counts what was gone.
func (r *Reader) missed(ours bool) {
	if ours {
		r.gone.Add(1)
	} else {
		r.unread.Add(1)
	}
}
