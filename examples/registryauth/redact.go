package registryauth

import (
	"fmt"
	"log/slog"
)

// redacted is all that is printed of what holds a secret, whatever the verb. Only its JSON,
// where it has to travel, tells it.
const redacted = "[redacted]"

// Format prints no password.
func (Login) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// LogValue logs none.
func (Login) LogValue() slog.Value { return slog.StringValue(redacted) }

// Format prints no token.
func (Request) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// LogValue logs none.
func (Request) LogValue() slog.Value { return slog.StringValue(redacted) }

// Format prints no password.
func (Response) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// LogValue logs none.
func (Response) LogValue() slog.Value { return slog.StringValue(redacted) }
