package execaudit

import (
	"iter"
	"strings"
)

// ReservedInQuery returns Faults: one that is Forbidden under env[i].name for every env
// parameter of rawQuery whose name reserved reserves, i counting env parameters
// from 0; nil for none. It is for a query that travels on as it is, to a parser
// one does not know: it also splits at ';', counts a key that does not decode as
// env, and reports an env parameter that does not decode or that a raw ';' ends or
// begins, since parsers disagree on what it is (Invalid, under env[i]).
// More than MaxEnvEntries env parameters are a TooMany fault under env, the last
// of the list; the rest is not looked at. Work is one pass; of each env parameter only the
// beginning of its name is decoded, so that memory does not grow with rawQuery.
func ReservedInQuery(rawQuery string, reserved Reserved) error {
	var faults Faults
	count := 0
	for parameter, disputed := range parameters(rawQuery) {
		if count > MaxEnvEntries {
			break
		}
		key, value, _ := strings.Cut(parameter, "=")
		if !mayBeQueryParam(key) {
			continue
		}
		fault := reservedFault(value, count, reserved)
		if fault == nil && disputed {
			fault = &Fault{Index: count, Kind: FaultInvalid, Detail: detailSemicolon}
		}
		if fault != nil {
			faults = append(faults, fault)
		}
		count++
	}
	if count > MaxEnvEntries {
		faults = append(faults, tooMany(count, MaxEnvEntries))
	}
	return faults.err()
}

// parameters yields what stands between '&' and ';', and whether a ';' is beside it.
func parameters(rawQuery string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for rest, more := rawQuery, true; more; {
			var segment string
			segment, rest, more = strings.Cut(rest, "&")
			disputed := strings.Contains(segment, ";")
			for inside := true; inside; {
				var parameter string
				parameter, segment, inside = strings.Cut(segment, ";")
				if !yield(parameter, disputed) {
					return
				}
			}
		}
	}
}

func reservedFault(escaped string, i int, reserved Reserved) *Fault {
	if _, detail := measure(escaped); detail != "" {
		return &Fault{Index: i, Kind: FaultInvalid, Detail: detail}
	}
	if reason := reserved.Reason(leadingName(escaped)); reason != "" {
		return &Fault{Index: i, Field: "name", Kind: FaultForbidden, Detail: reason}
	}
	return nil
}

// leadingName returns the name that escaped, in which measure found no fault, begins with. Of a longer one it returns
// as much as no reserved name has and no error repeats, so that what it decodes is bounded, whatever the value is.
func leadingName(escaped string) string {
	var name [maxShownNameBytes + 1]byte
	n := 0
	for i := 0; i < len(escaped) && n < len(name); i++ {
		c := escaped[i]
		switch c {
		case '%':
			c = unhex(escaped[i+1])<<4 | unhex(escaped[i+2])
			i += 2
		case '+':
			c = ' '
		}
		if c == '=' {
			break
		}
		name[n] = c
		n++
	}
	return string(name[:n])
}
