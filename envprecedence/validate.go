package envprecedence

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// MaxEntryBytes is the longest NAME=VALUE that execve takes: Linux's MAX_ARG_STRLEN, 32 pages of 4 KiB, less the
// closing NUL.
const MaxEntryBytes = 128<<10 - 1 // 131,071 bytes

// Validate says what execve or CRI would refuse of the environ strings, NAME=VALUE. It returns every fault at once,
// joined, each an [*EntryError]: [ErrNoEquals], [ErrEmptyName], [ErrNUL], [ErrNameNotUTF8], [ErrEntryTooLong] and,
// once, at the first entry that does not fit, [ErrTotalTooLong]. The limit is in bytes, counting each NAME=VALUE and
// its closing NUL; 0 or less means no limit. Values may be any bytes but NUL.
//
// It fits an injected tier and a merged result alike. Duplicates are not a fault: [Merge] resolves them.
func Validate(environ []string, limit int) error {
	v := validator{limit: limit}
	for i, s := range environ {
		eq := strings.IndexByte(s, '=')
		if eq <= 0 {
			v.report(malformedEntry(0, i, eq))
			continue
		}
		v.check(i, s[:eq], s[eq+1:])
	}
	return errors.Join(v.faults...)
}

func validateEntries(entries []Entry, limit int) error {
	v := validator{limit: limit}
	for i, e := range entries {
		v.check(i, e.Name, e.Value.Reveal())
	}
	return errors.Join(v.faults...)
}

// validator collects the faults of one list.
type validator struct {
	limit  int
	total  int
	full   bool // the total was reported
	faults []error
}

func (v *validator) report(fault *EntryError) { v.faults = append(v.faults, fault) }

func (v *validator) check(index int, name, value string) {
	if err := broken(name, value); err != nil {
		v.report(&EntryError{Index: index, Name: name, Err: err})
	}
	size := sizeOf(name, value)
	if size > MaxEntryBytes {
		v.report(&EntryError{Index: index, Name: name, Size: size, Limit: MaxEntryBytes, Err: ErrEntryTooLong})
	}
	v.total += size + len("\x00")
	if v.limit > 0 && v.total > v.limit && !v.full {
		v.full = true
		v.report(&EntryError{Index: index, Name: name, Size: v.total, Limit: v.limit, Err: ErrTotalTooLong})
	}
}

// broken returns the first rule about bytes that NAME=VALUE breaks, or nil.
func broken(name, value string) error {
	switch {
	case name == "":
		return ErrEmptyName
	case strings.IndexByte(name, '=') >= 0:
		return ErrEqualsInName
	case strings.IndexByte(name, 0) >= 0, strings.IndexByte(value, 0) >= 0:
		return ErrNUL
	case !utf8.ValidString(name):
		return ErrNameNotUTF8
	}
	return nil
}
