package redact

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// Bytes is a byte slice that is not shown, such as the output of a login. The zero value is empty and shows the same.
// Two are compared with [Bytes.Equal]; == does not compile.
type Bytes struct {
	// A function, for the reason that Text has a pointer: a pointer to a slice is one that fmt follows when a verb does
	// not fit.
	content func() []byte
}

// NewBytes returns Bytes that hold content itself, not a copy.
func NewBytes(content []byte) Bytes {
	if len(content) == 0 {
		return Bytes{}
	}
	return Bytes{content: func() []byte { return content }}
}

// Reveal returns the content itself, nil for none. Every use of it is a call of this method.
func (b Bytes) Reveal() []byte {
	if b.content == nil {
		return nil
	}
	return b.content()
}

// IsEmpty reports whether there is no content.
func (b Bytes) IsEmpty() bool { return b.content == nil }

// IsZero is IsEmpty, for the JSON option omitzero.
func (b Bytes) IsZero() bool { return b.IsEmpty() }

// Equal reports whether both hold the same content, in time that depends on their lengths only.
func (b Bytes) Equal(other Bytes) bool {
	return subtle.ConstantTimeCompare(b.Reveal(), other.Reveal()) == 1
}

// String returns [Mark].
func (b Bytes) String() string { return Mark }

// GoString returns [Mark].
func (b Bytes) GoString() string { return Mark }

// Format writes [Mark] for every verb and flag.
func (b Bytes) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, Mark) }

// MarshalText returns [Mark]. What has to travel is encoded from [Bytes.Reveal].
func (b Bytes) MarshalText() ([]byte, error) { return []byte(Mark), nil }

// LogValue returns [Mark] for log/slog.
func (b Bytes) LogValue() slog.Value { return slog.StringValue(Mark) }
