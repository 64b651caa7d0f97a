package redact

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// Mark is what is shown in place of the content.
const Mark = "[redacted]"

// Text is a string that is not shown. The zero value is the empty text; it shows the same, so that output does not tell
// whether there is one. Two texts are compared with [Text.Equal]: == compares identity, not content.
type Text struct {
	// A pointer, because fmt does not call methods on a value inside somebody's unexported field: it walks the struct,
	// and stops at a pointer by printing an address.
	text *string
}

// New returns a Text that holds text.
func New(text string) Text {
	if text == "" {
		return Text{}
	}
	return Text{text: &text}
}

// Texts returns a Text for each string, in order; nil for none. The strings are copied into one block, not one each.
func Texts(texts ...string) []Text {
	if len(texts) == 0 {
		return nil
	}
	block := append([]string(nil), texts...)
	hidden := make([]Text, len(block))
	for i := range block {
		if block[i] != "" {
			hidden[i].text = &block[i]
		}
	}
	return hidden
}

// Block returns a function that does what [New] does but puts its strings into one block with room for n of them, and
// into further, larger blocks when that is full. It is for decoders that make many texts at once, and for one
// goroutine. A block is kept as long as one of its texts is.
func Block(n int) func(text string) Text {
	block := make([]string, 0, n)
	return func(text string) Text {
		if text == "" {
			return Text{}
		}
		if len(block) == cap(block) {
			block = make([]string, 0, max(minBlock, 2*cap(block)))
		}
		block = append(block, text)
		return Text{text: &block[len(block)-1]}
	}
}

// minBlock is how many strings a block has at least that follows another.
const minBlock = 8

// Reveal returns the strings that the texts hold, in order; nil for none.
func Reveal(texts []Text) []string {
	if len(texts) == 0 {
		return nil
	}
	revealed := make([]string, len(texts))
	for i, t := range texts {
		revealed[i] = t.Reveal()
	}
	return revealed
}

// Reveal returns the content. Every use of it is a call of this method.
func (t Text) Reveal() string {
	if t.text == nil {
		return ""
	}
	return *t.text
}

// IsEmpty reports whether the text holds nothing.
func (t Text) IsEmpty() bool { return t.text == nil }

// IsZero is IsEmpty, for the JSON option omitzero.
func (t Text) IsZero() bool { return t.IsEmpty() }

// Equal reports whether both hold the same content, in time that depends on their lengths only.
func (t Text) Equal(other Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(other.Reveal())) == 1
}

// String returns [Mark].
func (t Text) String() string { return Mark }

// GoString returns [Mark].
func (t Text) GoString() string { return Mark }

// Format writes [Mark] for every verb and flag.
func (t Text) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, Mark) }

// MarshalText returns [Mark], so that encoders of JSON, XML and YAML write it. What has to travel is encoded from
// [Text.Reveal].
func (t Text) MarshalText() ([]byte, error) { return []byte(Mark), nil }

// LogValue returns [Mark] for log/slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(Mark) }
