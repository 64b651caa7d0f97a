package envprecedence_test

import (
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// model is the slow and obvious merge on Linux: write the KEP's formula down, then keep an entry if no stronger one has
// its name.
func model(t envprecedence.Tiers) []string {
	return modelBy(t, func(a, b string) bool { return a == b })
}

// modelBy is the model under another equality of names.
func modelBy(t envprecedence.Tiers, same func(a, b string) bool) []string {
	var kept []string
	for _, list := range [][]string{t.Runtime, t.Kubelet, t.APIServer, t.Caller, t.Container} {
		var tier []string
		for _, s := range slices.Backward(list) {
			name, _, found := strings.Cut(s, "=")
			if !found || name == "" || hasName(kept, name, same) || hasName(tier, name, same) {
				continue
			}
			tier = slices.Insert(tier, 0, s)
		}
		kept = append(kept, tier...)
	}
	return kept
}

func hasName(environ []string, name string, same func(a, b string) bool) bool {
	return slices.ContainsFunc(environ, func(s string) bool {
		other, _, _ := strings.Cut(s, "=")
		return same(other, name)
	})
}
