package kubelet

import (
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// Resolve returns what goes into ExecRequest.envs: own, the kubelet's entries,
// before the reserved names of query, the API server's, before the rest of query,
// the caller's. Each name comes once, with the value of the first of these
// tiers that has it and, inside a tier, of its last entry; a tier's entries
// keep the order in which their winners came. nil when nothing remains.
//
// Nothing on the wire tells the API server's entries from a caller's, so the
// name decides; a reserved name that comes twice, in whatever case, keeps its last
// entry, which is the API server's because it appends. The inputs are not
// changed.
//
// Source: KEP-6035, Environment Variable Precedence.
func Resolve(own, query []execaudit.Env, reserved execaudit.Reserved) []execaudit.Env {
	apiServer, caller := split(query, reserved)
	m := merge{taken: make(map[string]bool, len(own)+len(query)), reserved: reserved}
	for _, tier := range [][]execaudit.Env{own, apiServer, caller} {
		m.add(tier)
	}
	return m.result
}

func split(query []execaudit.Env, reserved execaudit.Reserved) (apiServer, caller []execaudit.Env) {
	for _, e := range query {
		if reserved.Reserves(e.Name) {
			apiServer = append(apiServer, e)
		} else {
			caller = append(caller, e)
		}
	}
	return apiServer, caller
}

type merge struct {
	reserved execaudit.Reserved
	taken    map[string]bool
	result   []execaudit.Env
}

// add appends the winners of one tier, walking it backwards since the last entry wins.
func (m *merge) add(tier []execaudit.Env) {
	start := len(m.result)
	for i := len(tier) - 1; i >= 0; i-- {
		if key := m.key(tier[i].Name); !m.taken[key] {
			m.taken[key] = true
			m.result = append(m.result, tier[i])
		}
	}
	slices.Reverse(m.result[start:])
}

// key makes the spellings of a reserved name one name, as a Windows node would.
func (m *merge) key(name string) string {
	if m.reserved.Reserves(name) {
		return strings.ToUpper(name)
	}
	return name
}
