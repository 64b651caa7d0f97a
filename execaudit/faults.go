package execaudit

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// ErrEnv is what every Fault unwraps to: an exec environment that breaks a rule.
var ErrEnv = errors.New("invalid exec environment")

// Fault is one broken rule of an exec environment. It never holds a value, and at
// most 64 bytes of a name.
type Fault struct {
	// Index is the entry's, from 0; -1 for the list as a whole.
	Index int
	// Field is "name", "value" or "valueFrom"; empty for the entry as a whole and
	// for the list.
	Field string
	// Kind is the class of the fault.
	Kind FaultKind
	// Name is what was found, with FaultDuplicate and where FaultInvalid is about a
	// name.
	Name string
	// Count is the number of entries, with FaultTooMany.
	Count int
	// Limit is the most entries, with FaultTooMany, or the most bytes over all names
	// and values, with FaultTooLong.
	Limit int
	// Detail is the rule; empty where the kind says it all.
	Detail string
}

// FaultKind is the class of a Fault, in Kubernetes' words.
type FaultKind string

// The classes of faults.
const (
	FaultRequired  FaultKind = "Required value"
	FaultInvalid   FaultKind = "Invalid value"
	FaultForbidden FaultKind = "Forbidden"
	FaultDuplicate FaultKind = "Duplicate value"
	FaultTooMany   FaultKind = "Too many"
	FaultTooLong   FaultKind = "Too long"
)

// Error returns the text that Kubernetes has for such a fault, such as
// "env[1].name: Required value".
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(QueryParam)
	if f.Index >= 0 {
		b.WriteString("[" + strconv.Itoa(f.Index) + "]")
	}
	if f.Field != "" {
		b.WriteString("." + f.Field)
	}
	b.WriteString(": " + string(f.Kind))
	switch {
	case f.Kind == FaultTooMany:
		b.WriteString(": " + strconv.Itoa(f.Count))
	case f.Name != "":
		b.WriteString(": " + strconv.Quote(f.Name))
	}
	if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	return b.String()
}

// Unwrap returns ErrEnv.
func (f *Fault) Unwrap() error { return ErrEnv }

// compare orders faults by place.
func (f *Fault) compare(other *Fault) int {
	return cmp.Or(cmp.Compare(f.Index, other.Index), cmp.Compare(f.Field, other.Field))
}

// Faults are all faults of one environment, in the order of their places. It is the
// error of the functions that report every fault at once, and never empty there.
type Faults []*Fault

// Error returns the faults as Kubernetes prints a list of errors.
func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, fault := range f {
		texts[i] = fault.Error()
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// Unwrap returns the faults, so that errors.As finds the first.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i, fault := range f {
		all[i] = fault
	}
	return all
}

// err returns the faults as an error, nil for none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// FaultsOf returns the Faults in err, or in what it wraps; nil when there are none. The caller must not change them.
func FaultsOf(err error) Faults {
	var faults Faults
	errors.As(err, &faults)
	return faults
}

// JoinFaults returns the faults of all the errors as one error, Faults in the order of
// their places: those of the list as a whole, then entry by entry, of each what its
// fields' names say in the order of the alphabet, so name before value. Faults of one
// place keep the order of the arguments. What is not Faults is left out; nil when
// nothing remains. The arguments are not changed.
func JoinFaults(errs ...error) error {
	var all Faults
	for _, err := range errs {
		all = append(all, FaultsOf(err)...)
	}
	slices.SortStableFunc(all, (*Fault).compare)
	return all.err()
}

// tooMany returns the fault of a list of count entries.
func tooMany(count, limit int) *Fault {
	items := "items"
	if limit == 1 {
		items = "item"
	}
	return &Fault{Index: -1, Kind: FaultTooMany, Count: count, Limit: limit, Detail: "must have at most " + strconv.Itoa(limit) + " " + items}
}

// tooLong returns the fault of a list with more bytes than limit.
func tooLong(limit int) *Fault {
	bytes := "bytes"
	if limit == 1 {
		bytes = "byte"
	}
	return &Fault{Index: -1, Kind: FaultTooLong, Limit: limit, Detail: "may not be more than " + strconv.Itoa(limit) + " " + bytes}
}
