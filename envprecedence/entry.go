package envprecedence

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
)

// Entry is one variable, as a CRI KeyValue or a Kubernetes EnvVar holds it.
type Entry struct {
	Name  string
	Value string
}

// String returns the name and hides the value, so that no log shows it.
func (e Entry) String() string { return quoteName(e.Name) + "=[redacted]" }

// GoString is String, for %#v.
func (e Entry) GoString() string { return e.String() }

// LogValue is String, for slog.
func (e Entry) LogValue() slog.Value { return slog.StringValue(e.String()) }

// MarshalJSON is String as a JSON string, for handlers that log JSON. It never returns an error.
func (e Entry) MarshalJSON() ([]byte, error) { return json.Marshal(e.String()) }

// Environ returns the entries as environ strings, NAME=VALUE, in the same order; nil for no entries. Duplicates stay: they
// are for [Merge] to resolve.
//
// It refuses what execve or CRI would refuse, or would take for another variable, and returns every fault at once, joined,
// each an [*EntryError]: [ErrEmptyName], [ErrEqualsInName], [ErrNUL], [ErrNameNotUTF8], [ErrEntryTooLong] and, once, at
// the first entry that does not fit, [ErrTotalTooLong]. The limit is in bytes, counting each NAME=VALUE and its closing
// NUL; 0 or less is no limit.
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
		block.WriteString(e.Value)
	}
	rest := block.String()
	environ := make([]string, len(entries))
	for i, e := range entries {
		environ[i], rest = rest[:e.size()], rest[e.size():]
	}
	return environ
}

// size returns the length of NAME=VALUE in bytes.
func (e Entry) size() int { return len(e.Name) + len("=") + len(e.Value) }

// Parse splits environ strings, NAME=VALUE, at their first "=" and returns the entries in the same order; nil for none.
// A value may hold "=" and may be empty. It returns every fault at once, joined, each an [*EntryError] of [ErrNoEquals] or
// [ErrEmptyName]. It is the inverse of [Environ]; the other rules are [Validate]'s.
func Parse(environ []string) ([]Entry, error) {
	var entries []Entry
	var faults []error
	for i, s := range environ {
		eq := strings.IndexByte(s, '=')
		if eq <= 0 {
			faults = append(faults, malformedEntry(0, i, eq))
			continue
		}
		entries = append(entries, Entry{Name: s[:eq], Value: s[eq+1:]})
	}
	if faults != nil {
		return nil, errors.Join(faults...)
	}
	return entries, nil
}
