package execaudit

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ReservedInQuery returns a Forbidden fault under env[i].name for every env
// parameter of rawQuery whose name reserved reserves, i counting env parameters
// from 0; nil for none. It is for a query that travels on as it is, to a parser
// one does not know: it also splits at ';', counts a key that does not decode as
// env, and reports an env parameter that does not decode (Invalid, under env[i]).
// More than MaxEnvEntries env parameters are a TooMany fault under env, the last
// of the list; the rest is not looked at. Work is one pass.
func ReservedInQuery(rawQuery string, reserved Reserved) field.ErrorList {
	var faults field.ErrorList
	path := field.NewPath(QueryParam)
	count := 0
	for rest := rawQuery; rest != "" && count <= MaxEnvEntries; {
		segment := rest
		rest = ""
		if end := strings.IndexAny(segment, "&;"); end >= 0 {
			segment, rest = segment[:end], segment[end+1:]
		}
		key, value, _ := strings.Cut(segment, "=")
		if !mayBeQueryParam(key) {
			continue
		}
		if fault := reservedFault(value, path.Index(count), reserved); fault != nil {
			faults = append(faults, fault)
		}
		count++
	}
	if count > MaxEnvEntries {
		faults = append(faults, field.TooMany(path, count, MaxEnvEntries))
	}
	return faults
}

func reservedFault(escaped string, path *field.Path, reserved Reserved) *field.Error {
	size, detail := measure(escaped)
	if detail != "" {
		return field.Invalid(path, field.OmitValueType{}, detail)
	}
	name, _, _ := strings.Cut(unescape(escaped, size), "=")
	if reason := reserved.Reason(name); reason != "" {
		return field.Forbidden(path.Child("name"), reason)
	}
	return nil
}
