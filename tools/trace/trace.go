// Package trace says which requirements have a test that names them, ran and
// passed.
package trace

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// row is the first cell of a table row of the requirements document.
var row = regexp.MustCompile(`(?m)^\| ([A-Z]+)-([0-9]+)[ |*]`)

// id is a requirement's name inside the name of a test, where the go command has
// turned spaces into underscores.
var id = regexp.MustCompile(`(?:^|[^A-Za-z0-9])([A-Z]+-[0-9]+)`)

// Requirement is a family and a number.
type Requirement struct {
	Family string
	Number string
}

// ID returns the name by which tests call the requirement.
func (r Requirement) ID() string { return r.Family + "-" + r.Number }

// Requirements returns the IDs in the tables of the document, in its order. A
// duplicate ID is an error.
func Requirements(document string) ([]Requirement, error) {
	var out []Requirement
	seen := map[Requirement]bool{}
	for _, m := range row.FindAllStringSubmatch(document, -1) {
		r := Requirement{m[1], m[2]}
		if seen[r] {
			return nil, fmt.Errorf("duplicate %s", r.ID())
		}
		seen[r] = true
		out = append(out, r)
	}
	return out, nil
}

// Named returns the IDs in the names of tests.
func Named(tests []string) map[string]bool {
	named := map[string]bool{}
	for _, test := range tests {
		for _, m := range id.FindAllStringSubmatch(test, -1) {
			named[m[1]] = true
		}
	}
	return named
}

// Report prints, per family, the IDs that no test names, and closes with how many
// have one. It returns the number of those that have none.
func Report(w io.Writer, requirements []Requirement, named map[string]bool) int {
	var families []string
	total, missing := map[string]int{}, map[string][]string{}
	without := 0
	for _, r := range requirements {
		if total[r.Family] == 0 {
			families = append(families, r.Family)
		}
		total[r.Family]++
		if !named[r.ID()] {
			missing[r.Family] = append(missing[r.Family], r.Number)
			without++
		}
	}
	for _, f := range families {
		have := total[f] - len(missing[f])
		line := fmt.Sprintf("%s: %d of %d", f, have, total[f])
		if len(missing[f]) > 0 {
			line += ", without a test: " + strings.Join(missing[f], ", ")
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "trace: %d of %d requirements have a test\n", len(requirements)-without, len(requirements))
	return without
}

// OfFamily keeps the requirements of one family; an empty name keeps all.
func OfFamily(requirements []Requirement, family string) []Requirement {
	if family == "" {
		return requirements
	}
	var out []Requirement
	for _, r := range requirements {
		if r.Family == family {
			out = append(out, r)
		}
	}
	return out
}
