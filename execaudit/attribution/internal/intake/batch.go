// Package intake is what the house's decoders have in common while they read a line.
package intake

import (
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Batch is the batch that a decoder was given, with what serves it from line to line: the store for the texts in it, or
// the decoder of a journal.
type Batch struct {
	*attribution.Batch
	texts.Store
	Journal journal.Decoder
}

// For returns the Batch that appends to b.
func For(b *attribution.Batch) *Batch {
	decoding := texts.Decoding(b)
	if *decoding == nil {
		with := &Batch{Batch: b}
		*decoding = func() any { return with }
	}
	return (*decoding)().(*Batch)
}
