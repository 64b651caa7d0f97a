package attribution

import (
	"errors"
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// ErrMalformed is returned by decoders for a line that is not what they read: not a JSON object, cut off, or without
// a field that they cannot do without.
var ErrMalformed = errors.New("malformed line")

// ErrNoNode is returned by decoders for an event that names no node, where Batch.Node names none either: PIDs of two
// nodes would be confused. It unwraps to ErrMalformed.
var ErrNoNode = fmt.Errorf("%w: no node name", ErrMalformed)

// Decoder appends what one line tells to a Batch: to Audits and Records, or by AddEvent. A line that tells nothing of
// use it counts in Batch.Ignored. It keeps no reference to the line. Its error is ErrMalformed or unwraps to it, and
// repeats nothing of the line.
type Decoder func(line []byte, b *Batch) error

// Batch collects what decoders read. The zero value is empty and ready. It is for one goroutine and must not be copied.
type Batch struct {
	// Node is for events whose agent does not name its node.
	Node string

	Audits  []Audit
	Events  []Event
	Records []Record
	// Ignored are the lines that told nothing.
	Ignored Ignored

	// decoding is what the house's decoders keep from line to line. A function, which no formatting looks into: it has
	// text of lines.
	decoding func() any
}

// Users of Batch have no use for this field, and the decoders are packages of their own.
func init() { texts.Decoding = func(batch any) *func() any { return &batch.(*Batch).decoding } }

// Reset empties the batch. Text that was read stays valid.
func (b *Batch) Reset() {
	clear(b.Audits)
	clear(b.Events)
	clear(b.Records)
	b.Audits, b.Events, b.Records, b.Ignored = b.Audits[:0], b.Events[:0], b.Records[:0], Ignored{}
}

// Ignored counts whole lines that told nothing, by kind.
type Ignored struct {
	// OtherRequests are audit events of requests other than pods/exec.
	OtherRequests int
	// NoProcess are an agent's lines that name no process.
	NoProcess int
	// OtherKinds are lines of a journal that are not of a session: its marks and seals, refusals, and kinds to come. Of
	// process events they are notices, and the events of a runtime's own processes.
	OtherKinds int
	// Other are lines of which the decoder does not say why.
	Other int
}

// Sum returns how many lines were ignored.
func (i Ignored) Sum() int {
	return i.OtherRequests + i.NoProcess + i.OtherKinds + i.Other
}

// AddEvent sets e.Node to b.Node where e names none, and appends a copy of e to b.Events. It appends nothing and
// returns ErrNoNode when there is no node name, ErrMalformed when e has no time.
func (b *Batch) AddEvent(e *Event) error {
	if e.Node == "" {
		e.Node = b.Node
	}
	switch {
	case e.Time.IsZero():
		return ErrMalformed
	case e.Node == "":
		return ErrNoNode
	}
	b.Events = append(b.Events, *e)
	return nil
}
