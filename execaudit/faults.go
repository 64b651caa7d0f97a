package execaudit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// JoinFaults returns the faults of both lists in the order of their places: those
// of env as a whole, then entry by entry, of each what its fields' names say in the
// order of the alphabet, so name before value. Faults of one place keep their order, a's
// first. The lists are not changed.
func JoinFaults(a, b field.ErrorList) field.ErrorList {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y *field.Error) int {
		return cmp.Or(cmp.Compare(entryOf(x.Field), entryOf(y.Field)), cmp.Compare(x.Field, y.Field))
	})
	return all
}

// entryOf returns i of a place such as env[i].name, -1 for that of a whole list.
func entryOf(place string) int {
	_, rest, _ := strings.Cut(place, "[")
	digits, _, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return i
}
