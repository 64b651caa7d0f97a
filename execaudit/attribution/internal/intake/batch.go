// Package intake is what the house's decoders have in common while they read a line.
package intake

import (
	"sync"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// Batch is the batch that a decoder was given, with a store for the texts in it. The store is shared by the lines that
// one processor reads, whatever their batches: copies stay valid.
type Batch struct {
	*attribution.Batch
	texts.Store
}

var unused = sync.Pool{New: func() any { return new(Batch) }}

// For returns a Batch that appends to b. Release ends its use.
func For(b *attribution.Batch) *Batch {
	with := unused.Get().(*Batch)
	with.Batch = b
	return with
}

// Release gives the store back.
func (b *Batch) Release() {
	b.Batch = nil
	unused.Put(b)
}
