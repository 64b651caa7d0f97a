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
// of the list; the rest is not looked at. Work is one pass.
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
		for segment := range strings.SplitSeq(rawQuery, "&") {
			disputed := strings.Contains(segment, ";")
			for parameter := range strings.SplitSeq(segment, ";") {
				if !yield(parameter, disputed) {
					return
				}
			}
		}
	}
}

func reservedFault(escaped string, i int, reserved Reserved) *Fault {
	size, detail := measure(escaped)
	if detail != "" {
		return &Fault{Index: i, Kind: FaultInvalid, Detail: detail}
	}
	name, _, _ := strings.Cut(unescape(escaped, size), "=")
	if reason := reserved.Reason(name); reason != "" {
		return &Fault{Index: i, Field: "name", Kind: FaultForbidden, Detail: reason}
	}
	return nil
}
