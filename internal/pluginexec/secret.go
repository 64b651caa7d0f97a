package pluginexec

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a credential that prints as "[redacted]" wherever it is formatted, encoded or logged.
//
// The zero value is the empty secret; it prints the same, so that output does not tell whether there is one. Two secrets
// are compared with [Secret.Equal]: == compares identity, not content.
type Secret struct {
	// A pointer, because fmt does not call methods on a secret inside somebody's unexported field: it walks the
	// struct, and stops at a pointer by printing an address.
	text *string
}

// NewSecret returns a secret that holds text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text. Every use of a secret's content is a call of this method.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsEmpty reports whether the secret holds no text.
func (s Secret) IsEmpty() bool { return s.text == nil }

// Equal reports whether both secrets hold the same text, in time that depends on their lengths only.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String returns "[redacted]".
func (s Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (s Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb and flag.
func (s Secret) Format(state fmt.State, _ rune) { fmt.Fprint(state, redacted) }

// MarshalJSON returns the JSON string "[redacted]". A credential that has to travel is encoded from [Secret.Reveal].
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText returns "[redacted]", for encoders that prefer text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns the string "[redacted]".
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
