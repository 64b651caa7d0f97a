package envprecedence

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What an [EntryError] unwraps to: the rule that an entry breaks.
var (
	// ErrNoEquals: an environ string holds no "=".
	ErrNoEquals = errors.New(`no "=" between name and value`)
	// ErrEmptyName: the name is empty.
	ErrEmptyName = errors.New("empty name")
	// ErrEqualsInName: the name holds "=", so that its first part would become the name.
	ErrEqualsInName = errors.New(`name holds "="`)
	// ErrNUL: the name or the value holds a NUL byte, at which execve would cut the entry.
	ErrNUL = errors.New("holds a NUL byte")
	// ErrNameNotUTF8: the name is not UTF-8, which a CRI message cannot carry.
	ErrNameNotUTF8 = errors.New("name is not UTF-8")
	// ErrEntryTooLong: NAME=VALUE is longer than [MaxEntryBytes].
	ErrEntryTooLong = errors.New("entry too long")
	// ErrTotalTooLong: this entry and those before it are longer than the caller's limit.
	ErrTotalTooLong = errors.New("environment too long")
)

// EntryError says which entry breaks which rule. It never holds a value, and no name where none can be told from the
// value.
type EntryError struct {
	Tier  Tier   // where the entry came from; zero if the function was given no tiers
	Index int    // its index in that tier or list, from 0
	Name  string // its name; empty for ErrNoEquals and ErrEmptyName
	Size  int    // for ErrEntryTooLong and ErrTotalTooLong: the size in bytes
	Limit int    // and the limit in bytes that it exceeds
	Err   error  // one of this package's sentinels
}

// malformedEntry returns the error for an environ string whose first "=" is at eq, which is 0 or, for none, -1.
func malformedEntry(tier Tier, index, eq int) *EntryError {
	if eq == 0 {
		return &EntryError{Tier: tier, Index: index, Err: ErrEmptyName}
	}
	return &EntryError{Tier: tier, Index: index, Err: ErrNoEquals}
}

// Error returns one line such as `caller entry 3 "LOG_LEVEL": holds a NUL byte`. A long name is cut.
func (e *EntryError) Error() string {
	var b strings.Builder
	if e.Tier != 0 {
		b.WriteString(e.Tier.String() + " ")
	}
	b.WriteString("entry " + strconv.Itoa(e.Index))
	if e.Name != "" {
		b.WriteString(" " + quoteName(e.Name))
	}
	b.WriteString(": " + e.Err.Error())
	if e.Limit > 0 {
		fmt.Fprintf(&b, ": %d bytes exceed %d", e.Size, e.Limit)
	}
	return b.String()
}

// Unwrap returns the sentinel of the broken rule.
func (e *EntryError) Unwrap() error { return e.Err }

// maxQuotedName keeps one hostile name from filling a log line.
const maxQuotedName = 64 // bytes

// showName returns the name as an entry shows it: quoted only if it is not a run of printable ASCII, as names are.
func showName(name string) string {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '=' {
			return quoteName(name)
		}
	}
	if name == "" || len(name) > maxQuotedName {
		return quoteName(name)
	}
	return name
}

func quoteName(name string) string {
	if len(name) > maxQuotedName {
		return strconv.Quote(name[:maxQuotedName]) + "..."
	}
	return strconv.Quote(name)
}
