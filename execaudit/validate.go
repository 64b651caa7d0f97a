package execaudit

import (
	"strings"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// Details of the faults that are about a value, so that no value is needed to
// understand them.
const (
	detailNUL  = "must not contain a NUL byte"
	detailUTF8 = "must be valid UTF-8"
)

// Validate returns every fault of PodExecOptions.Env as one error, Faults, or nil.
//
// The faults come in the order of the entries, first those of the list as a
// whole. An entry may have several:
//
//   - env[i].name: Required, for an empty name
//   - env[i].name: Invalid, for one that NamePattern does not match in full
//   - env[i].name: Forbidden, for one that reserved reserves
//   - env[i].name: Duplicate, from the second time a name comes
//   - env[i].value: Invalid, for a NUL byte or invalid UTF-8
//   - env: TooMany over MaxEnvEntries; entries past the limit are not looked at
//   - env: TooLong over MaxEnvBytes
//
// An empty value is valid, and so is every other byte sequence in UTF-8, newlines
// included: values are literal. No message repeats a value; one repeats at most
// 64 bytes of a name. A valueFrom, which no entry has, is refused where the API's JSON
// is decoded: DecodeJSON.
//
// Source: KEP-6035, Validation. Where Kubernetes validates Container.Env by the
// same rule the wording is its own. NUL and UTF-8 are beyond the KEP: execve
// cannot carry the one, the API's JSON and protobuf not the other.
func Validate(envs []envprecedence.Entry, reserved Reserved) error {
	faults := validateSize(envs)
	envs = envs[:min(len(envs), MaxEnvEntries)]
	seen := newNameSet()
	for i := range envs {
		duplicate := !seen.add(envs, i)
		if duplicate || !clean(&envs[i], reserved) {
			faults = append(faults, entryFaults(i, &envs[i], reserved, duplicate)...)
		}
	}
	return faults.err()
}

func validateSize(envs []envprecedence.Entry) Faults {
	var faults Faults
	if len(envs) > MaxEnvEntries {
		faults = append(faults, tooMany(len(envs), MaxEnvEntries))
	}
	size := 0
	for i := range envs {
		size += len(envs[i].Name) + len(envs[i].Value.Reveal())
	}
	if size > MaxEnvBytes {
		faults = append(faults, tooLong(MaxEnvBytes))
	}
	return faults
}

// clean is the way of an entry without a fault, which allocates nothing.
func clean(e *envprecedence.Entry, reserved Reserved) bool {
	return ValidName(e.Name) && !reserved.Reserves(e.Name) && textFault(e.Value.Reveal()) == ""
}

func entryFaults(i int, e *envprecedence.Entry, reserved Reserved, duplicate bool) Faults {
	faults := nameFaults(i, e.Name, reserved)
	if duplicate && e.Name != "" {
		faults = append(faults, &Fault{Index: i, Field: "name", Kind: FaultDuplicate, Name: shown(e.Name)})
	}
	if detail := textFault(e.Value.Reveal()); detail != "" {
		faults = append(faults, &Fault{Index: i, Field: "value", Kind: FaultInvalid, Detail: detail})
	}
	return faults
}

func nameFaults(i int, name string, reserved Reserved) Faults {
	if name == "" {
		return Faults{{Index: i, Field: "name", Kind: FaultRequired}}
	}
	var faults Faults
	if !ValidName(name) {
		faults = append(faults, &Fault{Index: i, Field: "name", Kind: FaultInvalid, Name: shown(name), Detail: nameRule})
	}
	if reason := reserved.Reason(name); reason != "" {
		faults = append(faults, &Fault{Index: i, Field: "name", Kind: FaultForbidden, Detail: reason})
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
