package issuer

import (
	"fmt"
	"log/slog"
)

// redacted is all that is printed of what holds a secret, whatever the verb.
const redacted = "[redacted]"

// Format prints no password.
func (User) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// LogValue logs none.
func (User) LogValue() slog.Value { return slog.StringValue(redacted) }
