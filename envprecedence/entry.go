package envprecedence

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// Entry is one variable: an entry of PodExecOptions.Env or of ExecRequest.envs. It shows as NAME=[redacted] by every
// verb of fmt, in JSON and other encodings, and in logs; a name that could break or forge a line is quoted, a long one
// cut.
//
// Two entries are compared with [Entry.Equal]: == compares the identity of the values, not their content.
type Entry struct {
	// Name is the variable's name. Any text can stand here; [Environ] says which the system takes.
	Name string
	// Value is literal bytes: nothing in it is expanded. Empty is a value.
	Value redact.Text
}

// NewEntry returns the entry of a name and its value. For many at once see [Parse] and redact.Block.
func NewEntry(name, value string) Entry { return Entry{Name: name, Value: redact.New(value)} }

// Equal reports whether both have the same name and the same value.
func (e Entry) Equal(other Entry) bool { return e.Name == other.Name && e.Value.Equal(other.Value) }

// String returns NAME=[redacted].
func (e Entry) String() string { return showName(e.Name) + "=" + redact.Mark }

// Format writes [Entry.String] for every verb and flag.
func (e Entry) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, e.String()) }

// MarshalText returns [Entry.String], so that encoders of JSON, XML and YAML write it. What has to travel is encoded
// from Value.Reveal.
func (e Entry) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// LogValue returns [Entry.String] for log/slog.
func (e Entry) LogValue() slog.Value { return slog.StringValue(e.String()) }

// Environ returns the entries as environ strings, NAME=VALUE, in the same order; nil for no entries. Duplicates stay:
// they are for [Merge] to resolve.
//
// It refuses what execve or CRI would refuse, or would take for another variable, and returns every fault at once,
// joined, each an [*EntryError]: [ErrEmptyName], [ErrEqualsInName], [ErrNUL], [ErrNameNotUTF8], [ErrEntryTooLong] and,
// once, at the first entry that does not fit, [ErrTotalTooLong]. The limit is in bytes, counting each NAME=VALUE and
// its closing NUL; 0 or less means no limit.
func Environ(entries []Entry, limit int) ([]string, error) {
	if err := validateEntries(entries, limit); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, nil
	}
	return join(entries), nil
}

// join writes all strings into one block, because an exec's entries live and die together.
func join(entries []Entry) []string {
	size := 0
	for _, e := range entries {
		size += e.size()
	}
	var block strings.Builder
	block.Grow(size)
	for _, e := range entries {
		block.WriteString(e.Name)
		block.WriteByte('=')
		block.WriteString(e.Value.Reveal())
	}
	rest := block.String()
	environ := make([]string, len(entries))
	for i, e := range entries {
		environ[i], rest = rest[:e.size()], rest[e.size():]
	}
	return environ
}

// size returns the length of NAME=VALUE in bytes.
func (e Entry) size() int { return sizeOf(e.Name, e.Value.Reveal()) }

func sizeOf(name, value string) int { return len(name) + len("=") + len(value) }

// Parse splits environ strings, NAME=VALUE, at their first "=" and returns the entries in the same order; nil for none.
// A value may hold "=" and may be empty. It returns every fault at once, joined, each an [*EntryError] of [ErrNoEquals]
// or [ErrEmptyName]. It is the inverse of [Environ]; the other rules are [Validate]'s. It allocates twice, however many
// there are.
func Parse(environ []string) ([]Entry, error) {
	if len(environ) == 0 {
		return nil, nil
	}
	entries, hide := make([]Entry, 0, len(environ)), redact.Block(len(environ))
	var faults []error
	for i, s := range environ {
		eq := strings.IndexByte(s, '=')
		if eq <= 0 {
			faults = append(faults, malformedEntry(0, i, eq))
			continue
		}
		entries = append(entries, Entry{Name: s[:eq], Value: hide(s[eq+1:])})
	}
	if faults != nil {
		return nil, errors.Join(faults...)
	}
	return entries, nil
}
