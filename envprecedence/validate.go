package envprecedence

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// MaxEntryBytes is the longest NAME=VALUE that execve takes: Linux's MAX_ARG_STRLEN, 32 pages of 4 KiB, less the closing
// NUL.
const MaxEntryBytes = 128<<10 - 1 // 131,071 bytes

// Validate says what execve or CRI would refuse of the environ strings, NAME=VALUE. It returns every fault at once, joined,
// each an [*EntryError]: [ErrNoEquals], [ErrEmptyName], [ErrNUL], [ErrNameNotUTF8], [ErrEntryTooLong] and, once, at the
// first entry that does not fit, [ErrTotalTooLong]. The limit is in bytes, counting each NAME=VALUE and its closing NUL;
// 0 or less is no limit. Values may be any bytes but NUL.
//
// It fits an injected tier and a merged result alike. Duplicates are no fault: [Merge] resolves them.
func Validate(environ []string, limit int) error {
	v := validator{limit: limit}
	for i, s := range environ {
		eq := strings.IndexByte(s, '=')
		if eq <= 0 {
			v.report(malformedEntry(0, i, eq))
			continue
		}
		v.check(i, Entry{Name: s[:eq], Value: s[eq+1:]})
	}
	return errors.Join(v.faults...)
}

func validateEntries(entries []Entry, limit int) error {
	v := validator{limit: limit}
	for i, e := range entries {
		v.check(i, e)
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

func (v *validator) check(index int, e Entry) {
	if err := broken(e); err != nil {
		v.report(&EntryError{Index: index, Name: e.Name, Err: err})
	}
	size := e.size()
	if size > MaxEntryBytes {
		v.report(&EntryError{Index: index, Name: e.Name, Size: size, Limit: MaxEntryBytes, Err: ErrEntryTooLong})
	}
	v.total += size + len("\x00")
	if v.limit > 0 && v.total > v.limit && !v.full {
		v.full = true
		v.report(&EntryError{Index: index, Name: e.Name, Size: v.total, Limit: v.limit, Err: ErrTotalTooLong})
	}
}

// broken returns the first rule about bytes that the entry breaks, or nil.
func broken(e Entry) error {
	switch {
	case e.Name == "":
		return ErrEmptyName
	case strings.IndexByte(e.Name, '=') >= 0:
		return ErrEqualsInName
	case strings.IndexByte(e.Name, 0) >= 0, strings.IndexByte(e.Value, 0) >= 0:
		return ErrNUL
	case !utf8.ValidString(e.Name):
		return ErrNameNotUTF8
	}
	return nil
}
