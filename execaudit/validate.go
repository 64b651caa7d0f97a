package execaudit

import (
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// Details of the faults that are about a value, so that no value is needed to
// understand them.
const (
	detailNUL  = "must not contain a NUL byte"
	detailUTF8 = "must be valid UTF-8"
)

// Validate returns every fault of PodExecOptions.Env, or nil. path is where the
// list stands in its object, usually field.NewPath("env"); nil is allowed.
//
// The faults come in the order of the entries, first those of the list as a
// whole. An entry may have several:
//
//   - path[i].name: Required, for an empty name
//   - path[i].name: Invalid, for one that NamePattern does not match in full
//   - path[i].name: Forbidden, for one that reserved reserves
//   - path[i].name: Duplicate, from the second time a name comes
//   - path[i].value: Invalid, for a NUL byte or invalid UTF-8
//   - path: TooMany over MaxEnvEntries; entries past the limit are not looked at
//   - path: TooLong over MaxEnvBytes
//
// An empty value is valid, and so is every other byte sequence in UTF-8, newlines
// included: values are literal. No message repeats a value; one repeats at most
// 64 bytes of a name. A valueFrom, which no entry has, is refused where the API's JSON
// is decoded: apiserver.DecodeEnv.
//
// Source: KEP-6035, Validation. Where Kubernetes validates Container.Env by the
// same rule the wording is its own. NUL and UTF-8 are beyond the KEP: execve
// cannot carry the one, the API's JSON and protobuf not the other.
func Validate(envs []envprecedence.Entry, path *field.Path, reserved Reserved) field.ErrorList {
	faults := validateSize(envs, path)
	envs = envs[:min(len(envs), MaxEnvEntries)]
	seen := newNameSet()
	for i := range envs {
		duplicate := !seen.add(envs, i)
		if duplicate || !clean(&envs[i], reserved) {
			faults = append(faults, entryFaults(&envs[i], path.Index(i), reserved, duplicate)...)
		}
	}
	return faults
}

func validateSize(envs []envprecedence.Entry, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if len(envs) > MaxEnvEntries {
		faults = append(faults, field.TooMany(path, len(envs), MaxEnvEntries))
	}
	size := 0
	for i := range envs {
		size += len(envs[i].Name) + len(envs[i].Value.Reveal())
	}
	if size > MaxEnvBytes {
		faults = append(faults, field.TooLong(path, nil, MaxEnvBytes))
	}
	return faults
}

// clean is the path without a fault, which builds no field.Path.
func clean(e *envprecedence.Entry, reserved Reserved) bool {
	return ValidName(e.Name) && !reserved.Reserves(e.Name) && textFault(e.Value.Reveal()) == ""
}

func entryFaults(e *envprecedence.Entry, path *field.Path, reserved Reserved, duplicate bool) field.ErrorList {
	faults := nameFaults(e.Name, path.Child("name"), reserved)
	if duplicate && e.Name != "" {
		faults = append(faults, field.Duplicate(path.Child("name"), shown(e.Name)))
	}
	if detail := textFault(e.Value.Reveal()); detail != "" {
		faults = append(faults, field.Invalid(path.Child("value"), field.OmitValueType{}, detail))
	}
	return faults
}

func nameFaults(name string, path *field.Path, reserved Reserved) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var faults field.ErrorList
	if !ValidName(name) {
		faults = append(faults, field.Invalid(path, shown(name), nameRule))
	}
	if reason := reserved.Reason(name); reason != "" {
		faults = append(faults, field.Forbidden(path, reason))
	}
	return faults
}

func textFault(value string) string {
	switch {
	case strings.IndexByte(value, 0) >= 0:
		return detailNUL
	case !utf8.ValidString(value):
		return detailUTF8
	}
	return ""
}
