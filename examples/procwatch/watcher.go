package procwatch

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// Options say what a Watcher watches. The zero value is every container of the machine, of a node without a name.
type Options struct {
	// Node is the node's name in the events. Without it, whoever reads them has to name the node: attribution takes no
	// event without one.
	Node string
	// Containers chooses by CRI ID the containers whose processes are told; nil chooses all.
	Containers func(id string) bool
}

// Counts say what is missing in the events.
type Counts struct {
	// Overruns is how often the kernel had to drop events because the reader was behind. How many it dropped is
	// unknown.
	Overruns int
	// Gone counts processes that were no more when they were to be read.
	Gone int
}

// Watcher is a subscription to the kernel's process events. It is for one goroutine.
type Watcher struct {
	options   Options
	boot      string
	socket    *socket
	counts    Counts
	processes table
	lines     *json.Encoder
}

// Open begins to watch: what happens from now on is told by Follow. The caller closes the Watcher. Without
// CAP_NET_ADMIN the error is unix.EPERM; where the kernel does not answer it is ErrUnsupported.
func Open(o Options) (*Watcher, error) {
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	s, err := subscribe()
	if err != nil {
		return nil, err
	}
	return &Watcher{options: o, boot: boot, socket: s, processes: table{}}, nil
}

// Follow writes one line for each fork, exec and exit in the containers, in the kernel's order. It returns nil when ctx
// ends, after what the kernel had told by then; else the error of the writer or the socket. It is called once.
func (w *Watcher) Follow(ctx context.Context, out io.Writer) error {
	w.lines = json.NewEncoder(out)
	defer w.socket.interrupt(ctx)()
	for {
		n, err := w.socket.receive()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return w.rest()
		}
		if err := w.take(n, err); err != nil {
			return err
		}
	}
}

// rest writes what is already there.
func (w *Watcher) rest() error {
	for {
		n, err := w.socket.waiting()
		if errors.Is(err, unix.EAGAIN) {
			return nil
		}
		if err := w.take(n, err); err != nil {
			return err
		}
	}
}

// Counts returns what was missed so far.
func (w *Watcher) Counts() Counts { return w.counts }

// Close ends the subscription.
func (w *Watcher) Close() error { return w.socket.close() }

func (w *Watcher) take(n notice, err error) error {
	switch {
	case errors.Is(err, unix.ENOBUFS):
		w.counts.Overruns++
		// A fork, exec or exit may be among what was lost, so nothing that was known is sure any more.
		clear(w.processes)
		return nil
	case err != nil:
		return err
	case n.what == whatFork:
		return w.forked(n)
	case n.what == whatExec:
		return w.execed(n)
	case n.what == whatExit:
		return w.exited(n)
	}
	return nil
}

func (w *Watcher) forked(n notice) error {
	if n.thread != n.process {
		w.processes.thread(n.process)
		return nil
	}
	at, ticks := when(n.since)
	p := w.processes.born(n, ticks)
	if !p.known {
		w.counts.Gone++
		return nil
	}
	w.mark(p)
	return w.tell(w.line(attribution.KindFork, p, at))
}

func (w *Watcher) execed(n notice) error {
	at, ticks := when(n.since)
	p := w.processes.changed(n.process, ticks)
	if !p.known {
		w.counts.Gone++
		return nil
	}
	w.mark(p)
	l := w.line(attribution.KindExec, p, at)
	l.FirstImage = p.images == 1
	if w.chosen(p.container) {
		c, argv := program(p.pid, p.ticks)
		l.AuditID, l.ExecSession, l.Argv = c.auditID, c.execSession, argv
	}
	return w.tell(l)
}

// mark reads the kernel's mark of a process that is told. An end tells what was read last.
func (w *Watcher) mark(p *process) {
	if !w.chosen(p.container) {
		return
	}
	if m, ok := markOf(p.pid, p.ticks); ok {
		p.mark = m
	}
}

func (w *Watcher) exited(n notice) error {
	p := w.processes.ended(n)
	if p == nil || !p.known {
		return nil
	}
	at, _ := when(n.since)
	return w.tell(w.line(attribution.KindExit, p, at))
}

func (w *Watcher) tell(l line) error {
	if !w.chosen(l.ContainerID) {
		return nil
	}
	return w.lines.Encode(l)
}

func (w *Watcher) chosen(container string) bool {
	return container != "" && (w.options.Containers == nil || w.options.Containers(container))
}
