package ca

import (
	"fmt"
	"log/slog"
)

// redacted is all that is printed of what holds a key, whatever the verb.
const redacted = "[redacted]"

// Format prints no key.
func (Pair) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// LogValue logs none.
func (Pair) LogValue() slog.Value { return slog.StringValue(redacted) }
