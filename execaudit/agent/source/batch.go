package source

import (
	"slices"
	"sync/atomic"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// maxBatch is how many events go to an output at once, at most.
const maxBatch = 256

// batch is what goes to the outputs together. It is not changed once it is on its way.
type batch struct {
	events  []*agent.Event
	notices []*agent.Notice
	bytes   int
	lost    int64        // the Reader's, of which its notices tell
	open    atomic.Int32 // outputs that have it
}

// eventBytes is about the size of an event without its own texts.
const eventBytes = 1 << 10

func (b *batch) add(e *agent.Event) {
	kept := *e
	kept.Args = slices.Clone(e.Args)
	b.events = append(b.events, &kept)
	b.bytes += eventBytes + 2*len(e.Command) + len(e.Observation.File)
}

func (b *batch) notify(n *agent.Notice) {
	kept := *n
	b.notices = append(b.notices, &kept)
	b.bytes += eventBytes
}

func (b *batch) full() bool { return len(b.events) >= maxBatch }

func (b *batch) empty() bool { return len(b.events) == 0 && len(b.notices) == 0 }
