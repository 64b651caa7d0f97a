package login

import (
	"fmt"
	"log/slog"
)

// redacted is all that is printed of what holds a secret, whatever the verb. Only its JSON,
// which has to travel, tells it.
const redacted = "[redacted]"

// Format prints no password.
func (Request) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// LogValue logs none.
func (Request) LogValue() slog.Value { return slog.StringValue(redacted) }

// Format prints no token and no key.
func (Answer) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// LogValue logs none.
func (Answer) LogValue() slog.Value { return slog.StringValue(redacted) }
