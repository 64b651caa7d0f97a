package attribution

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
)

// ErrMalformed is returned by decoders for a line that is not what they read: no JSON object, cut off, or without a field
// that they cannot do without.
var ErrMalformed = errors.New("malformed line")

// ErrNoNode is returned by decoders for an event that names no node, where Batch.Node names none either: PIDs of two
// nodes would be taken for one's. It unwraps to ErrMalformed.
var ErrNoNode = fmt.Errorf("%w: no node name", ErrMalformed)

// Decoder appends what one line tells to a Batch: nothing for a line that is of no use here, which it counts in
// Batch.Ignored. It keeps no reference to the line. Its error is ErrMalformed or unwraps to it, and repeats nothing of
// the line.
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

	text    strings.Builder
	scratch []byte
	recent  [64]string
}

// Reset empties the batch. Text that was read stays valid.
func (b *Batch) Reset() {
	clear(b.Audits)
	clear(b.Events)
	clear(b.Records)
	clear(b.recent[:]) // or names would hold on to blocks of text
	b.Audits, b.Events, b.Records, b.Ignored = b.Audits[:0], b.Events[:0], b.Records[:0], Ignored{}
}

// Ignored counts whole lines that told nothing, by kind.
type Ignored struct {
	// OtherRequests are audit events of requests other than pods/exec.
	OtherRequests int
	// NoProcess are an agent's lines that name no process.
	NoProcess int
	// Other are lines of which the decoder does not say why.
	Other int
}

// Sum returns how many lines were ignored.
func (i Ignored) Sum() int {
	return i.OtherRequests + i.NoProcess + i.Other
}

// AddEvent appends a copy of e to b.Events, with b.Node for an event that names no node. It appends nothing and returns
// ErrNoNode when b.Node names none either, ErrMalformed when e has no time.
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

// Latest returns the latest time in the batch, the zero time for an empty one.
func (b *Batch) Latest() time.Time {
	var t time.Time
	for i := range b.Audits {
		t = latest(t, b.Audits[i].At)
	}
	for i := range b.Events {
		t = latest(t, b.Events[i].Time)
	}
	for i := range b.Records {
		t = latest(t, b.Records[i].Time)
	}
	return t
}

const textBlock = 32 << 10

// Text returns a copy of what the inside of a JSON string means. Copies lie together in blocks, which is cheaper than one by one.
func (b *Batch) Text(raw []byte) string {
	if bytes.IndexByte(raw, '\\') >= 0 {
		b.scratch = scan.AppendUnescaped(b.scratch[:0], raw)
		raw = b.scratch
	}
	return b.Copy(raw)
}

// Copy returns a copy of text, as Text does.
func (b *Batch) Copy(text []byte) string {
	if len(text) > textBlock/4 {
		return string(text)
	}
	if b.text.Cap()-b.text.Len() < len(text) {
		b.text = strings.Builder{}
		b.text.Grow(textBlock)
	}
	start := b.text.Len()
	b.text.Write(text)
	return b.text.String()[start:]
}

// MaxCommandBytes is how much of a command line is kept.
const MaxCommandBytes = 4 << 10 // 4 KiB

// Command is Text for a command line, cut at MaxCommandBytes.
func (b *Batch) Command(raw []byte) string {
	return b.Text(raw[:min(len(raw), MaxCommandBytes)])
}

// Words returns a command line's words, each a JSON string's inside, as one text, cut at MaxCommandBytes.
func (b *Batch) Words(words [][]byte) string {
	line := b.scratch[:0]
	for i, word := range words {
		if i > 0 {
			line = append(line, ' ')
		}
		line = scan.AppendUnescaped(line, word)
	}
	b.scratch = line
	return b.Copy(line[:min(len(line), MaxCommandBytes)])
}

// Name is Text for what comes again and again, such as a node's name: a repetition within the batch takes no room.
func (b *Batch) Name(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	slot := &b.recent[(uint(raw[len(raw)-1])*7+uint(raw[0])*3+uint(len(raw)))%uint(len(b.recent))]
	if *slot == string(raw) {
		return *slot
	}
	name := b.Text(raw)
	if len(name) == len(raw) { // nothing was escaped
		*slot = name
	}
	return name
}
