package credprovider

import (
	"errors"
	"fmt"
	"strings"
)

// ErrConfig is the condition of every [Fault], and of what configfile cannot decode: a configuration that a kubelet
// does not start with.
var ErrConfig = errors.New("invalid credential provider configuration")

// Fault is one rule that a configuration breaks. It unwraps to [ErrConfig].
type Fault struct {
	// File is the path of the file; empty when the configuration did not come from one.
	File string
	// Field is the place in that file, such as "providers[1].name".
	Field string
	// Kind is the class of the fault.
	Kind FaultKind
	// Value is what was found, quoted; empty for FaultRequired and FaultForbidden. It is a name, version, pattern,
	// duration, annotation key or cache type: no rule looks at arguments or at the values of environment variables.
	Value string
	// Detail is the rule.
	Detail string
}

// FaultKind is the class of a [Fault], in upstream's words.
type FaultKind string

// The classes of faults.
const (
	FaultRequired    FaultKind = "Required value"
	FaultInvalid     FaultKind = "Invalid value"
	FaultDuplicate   FaultKind = "Duplicate value"
	FaultUnsupported FaultKind = "Unsupported value"
	FaultForbidden   FaultKind = "Forbidden"
)

// Error returns upstream's text of the fault with the index in its path, after the file when there is one.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ": ")
	}
	b.WriteString(f.Field + ": " + string(f.Kind))
	if f.Value != "" || f.Kind == FaultInvalid {
		b.WriteString(": " + f.Value)
	}
	if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	return b.String()
}

// Unwrap returns ErrConfig.
func (f *Fault) Unwrap() error { return ErrConfig }

// Faults are all rules that a configuration breaks, in the order of the providers and of the fields of one.
type Faults []*Fault

// Error returns one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults, so that errors.As finds the first.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i, fault := range f {
		all[i] = fault
	}
	return all
}

// place is where faults of one provider are found.
type place struct {
	origin Origin
	faults *Faults
}

func (p place) add(kind FaultKind, field, value, detail string) {
	path := fmt.Sprintf("providers[%d]", p.origin.Index)
	if field != "" {
		path += "." + field
	}
	*p.faults = append(*p.faults, &Fault{File: p.origin.File, Field: path, Kind: kind, Value: value, Detail: detail})
}

func (p place) required(field, detail string)  { p.add(FaultRequired, field, "", detail) }
func (p place) forbidden(field, detail string) { p.add(FaultForbidden, field, "", detail) }
func (p place) invalid(field, value, rule string) {
	p.add(FaultInvalid, field, fmt.Sprintf("%q", value), rule)
}

func (p place) duplicate(field, value string) {
	p.add(FaultDuplicate, field, fmt.Sprintf("%q", value), "")
}

func (p place) unsupported(field, value string, supported ...string) {
	quoted := make([]string, len(supported))
	for i, s := range supported {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	p.add(FaultUnsupported, field, fmt.Sprintf("%q", value), "supported values: "+strings.Join(quoted, ", "))
}
