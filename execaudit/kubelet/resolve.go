package kubelet

import (
	"strings"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// Resolve returns what goes into ExecRequest.envs: own, the kubelet's entries,
// before the reserved names of query, the API server's, before the rest of query,
// the caller's, merged by envprecedence.Resolve. Each name comes once, with the
// value of the first of these tiers that has it and, inside a tier, of its last
// entry; a tier's entries keep their order. nil when nothing remains.
//
// Nothing on the wire tells the API server's entries from a caller's, so the
// name decides; a reserved name that comes twice, in whatever case, keeps its last
// entry, which is the API server's because it appends. The inputs are not
// changed.
//
// Source: KEP-6035, Environment Variable Precedence.
func Resolve(own, query []envprecedence.Entry, reserved execaudit.Reserved) []envprecedence.Entry {
	apiServer, caller := split(query, reserved)
	return envprecedence.Resolve(func(name string) string { return key(name, reserved) }, own, apiServer, caller)
}

// split returns the reserved entries and the others, each in order, in one new block.
func split(query []envprecedence.Entry, reserved execaudit.Reserved) (apiServer, caller []envprecedence.Entry) {
	both := make([]envprecedence.Entry, 0, len(query))
	for _, e := range query {
		if reserved.Reserves(e.Name) {
			both = append(both, e)
		}
	}
	first := len(both)
	for _, e := range query {
		if !reserved.Reserves(e.Name) {
			both = append(both, e)
		}
	}
	return both[:first], both[first:]
}

// key makes the spellings of a reserved name one name, as a Windows node would.
func key(name string, reserved execaudit.Reserved) string {
	if reserved.Reserves(name) {
		return strings.ToUpper(name)
	}
	return name
}
