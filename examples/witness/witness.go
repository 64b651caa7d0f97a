// Package witness has the agent watch some containers of a node for a while. It needs what the agent does: root, and a
// kernel that loads its programs or has the proc connector.
//
//	w, err := witness.Watch(witness.Options{Node: "node-1", Journal: path, Containers: []string{id}})
//	…
//	told, err := w.End()
package witness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
)

// Options say what is watched.
type Options struct {
	// Node is the node's name, and Journal its exec journal.
	Node, Journal string
	// Containers are the CRI IDs of those whose processes are told.
	Containers []string
	// Mode is which reader of the kernel is used; empty is the best that there is.
	Mode source.Mode
}

// Witness is an agent that watches.
type Witness struct {
	opened *source.Opened
	end    context.CancelFunc
	ended  chan error
	told   told
}

// Told is what an agent told.
type Told struct {
	// Lines are the events of the containers, as execaudit/attribution/procevents reads them, in order.
	Lines []byte
	// Origin is what the agent read.
	Origin agent.Origin
	// Missed is how many events are missing, at most: the proc connector is too slow for what lives a moment only.
	Missed int64
}

var (
	// ErrUnsupported says that nothing can be watched here.
	ErrUnsupported = errors.New("the agent cannot watch here")
	// ErrLost says that the agent missed what it should not have.
	ErrLost = errors.New("the agent missed events")
)

// Watch begins to watch: what happens from now on is told. The caller ends it.
func Watch(o Options) (*Witness, error) {
	opened, err := source.Open(o.Mode, bpf.Options{}, connector.Options{})
	if errors.Is(err, os.ErrPermission) || errors.Is(err, bpf.ErrUnsupported) || errors.Is(err, connector.ErrUnsupported) {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if err != nil {
		return nil, err
	}
	w := &Witness{opened: opened, ended: make(chan error, 1), told: told{containers: o.Containers}}
	s, err := source.New(source.Options{
		Node: o.Node, Reader: opened, Origin: opened.Origin, Journals: []string{o.Journal}, Outputs: []source.Output{&w.told}, NoWalk: true,
	})
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	ctx, end := context.WithCancel(context.Background())
	w.end = end
	go func() { w.ended <- errors.Join(s.Run(ctx), opened.Close()) }()
	return w, nil
}

// Forged returns the marks so far that no record of the journal has, of processes in the containers. The agent waits a
// moment for the record.
func (w *Witness) Forged() []agent.Notice {
	w.told.mu.Lock()
	defer w.told.mu.Unlock()
	return slices.Clone(w.told.forged)
}

// End ends the watching and returns what was told. The error is ErrLost when an unknown number of events is missing, or
// any that the kernel's programs saw.
func (w *Witness) End() (Told, error) {
	w.end()
	if err := <-w.ended; err != nil {
		return Told{}, err
	}
	told := Told{Lines: w.told.lines, Origin: w.opened.Origin}
	for _, n := range w.told.lost {
		if n.Count < 0 || told.Origin == agent.OriginKernel {
			return Told{}, fmt.Errorf("%w: %d, %s", ErrLost, n.Count, n.Reason)
		}
		told.Missed += n.Count
	}
	return told, nil
}

// told is an output of the agent.
type told struct {
	containers []string
	lines      []byte
	lost       []agent.Notice

	mu     sync.Mutex
	forged []agent.Notice
}

func (t *told) Write(events []*agent.Event, notices []*agent.Notice) error {
	for _, e := range events {
		if slices.Contains(t.containers, e.ContainerID) {
			t.lines = e.AppendLine(t.lines)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range notices {
		switch {
		case n.Kind == agent.NoticeLost:
			t.lost = append(t.lost, *n)
		case n.Kind == agent.NoticeForged && slices.Contains(t.containers, n.ContainerID):
			t.forged = append(t.forged, *n)
		}
	}
	return nil
}

func (t *told) Close() error { return nil }
