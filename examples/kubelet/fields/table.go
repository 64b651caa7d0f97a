package fields

import (
	"slices"
	"strings"
)

// Verdict is what becomes of a field that is set.
type Verdict string

// The verdicts.
const (
	Honoured Verdict = "honoured" // every value is acted upon
	Limited  Verdict = "limited"  // some values are acted upon, or ask for what is done anyway; others are refused
	Ignored  Verdict = "ignored"  // no kubelet reads it, or it asks for nothing
	Refused  Verdict = "refused"  // every value is refused
)

// Row is the verdict on a field and on everything below it.
type Row struct {
	// Path is the field's path from the PodSpec, by its names in JSON; [] is each element of a list. What it says of
	// containers[] goes for initContainers[] as well.
	Path    string
	Verdict Verdict
	// Values are those that a limited field may have: texts of scalars, keys of a map. Empty where the value is
	// judged by what stands around it.
	Values []string
	// Why is the reason of a refusal, or what is done about the field.
	Why string

	allow func(text string, in scope) bool
}

// Table returns every row, in the order of the API's types.
func Table() []Row {
	return slices.Concat(podRows(), podSecurityRows(), containerRows(), containerSecurityRows(), volumeRows())
}

// table is Table by path.
var table = byPath(Table())

func byPath(rows []Row) map[string]Row {
	out := make(map[string]Row, len(rows))
	for _, r := range rows {
		out[r.Path] = r
	}
	return out
}

const (
	containerPrefix = "containers[]"
	initPrefix      = "initContainers[]"
)

// row returns the row of a path, and false where the table has none.
func row(path string) (Row, bool) {
	r, there := table[path]
	if below, init := strings.CutPrefix(path, initPrefix); init && !there {
		r, there = table[containerPrefix+below]
	}
	return r, there
}

func honoured(path, how string) Row { return Row{Path: path, Verdict: Honoured, Why: how} }

func ignored(path, why string) Row { return Row{Path: path, Verdict: Ignored, Why: why} }

func refused(path, why string) Row { return Row{Path: path, Verdict: Refused, Why: why} }

func limited(path, why string, values ...string) Row {
	return Row{Path: path, Verdict: Limited, Why: why, Values: values}
}

func judged(path, why string, allow func(text string, in scope) bool) Row {
	return Row{Path: path, Verdict: Limited, Why: why, allow: allow}
}

// allows reports whether a limited field may have the value.
func (r Row) allows(text string, in scope) bool {
	if r.allow != nil {
		return r.allow(text, in)
	}
	return slices.Contains(r.Values, text)
}
