package privilege

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	proxy = "proxy"
	nodes = "nodes/"
	all   = "*"
)

// Need is a verb on a subresource of nodes.
type Need struct {
	// Verb is empty for an HTTP method that has none; then only the verb "*" grants it.
	Verb string
	// Subresource is one of the kubelet's, such as "pods" or "proxy".
	Subresource string
}

// String is "get nodes/pods"; an empty verb shows as "*".
func (n Need) String() string { return cmp.Or(n.Verb, all) + " " + nodes + n.Subresource }

// Fleet describes the kubelets that an agent meets. The zero value is every version from 1.31 on.
type Fleet struct {
	// Oldest is the oldest version; zero and versions before 1.31 count as 1.31. The fleet goes up to the newest known
	// version, and an oldest one after that is treated as the newest known: see [kubeletauthz.Minor.Known].
	Oldest kubeletauthz.Minor
	// HardenedVerbs says that the kubelets have [kubeletauthz.Options.HardenedVerbs] on.
	HardenedVerbs bool
}

// Needs returns the least that allows every call on every kubelet of a fleet, ordered by verb and then by subresource,
// each once; nil without calls.
//
// Where an old version asks for proxy alone, proxy is needed, and what newer versions would ask before it is left out:
// it would grant nothing more. Versions that cannot serve a call ask nothing for it.
func Needs(calls []Call, f Fleet) []Need {
	var asks [][]Need
	oldest, _ := f.Oldest.Known()
	for _, c := range calls {
		for minor := max(oldest, since(c)); minor <= kubeletauthz.MinorNewest; minor++ {
			m, err := kubeletauthz.New(kubeletauthz.Options{Minor: minor, HardenedVerbs: f.HardenedVerbs})
			if err == nil {
				asks = append(asks, c.Asks(m))
			}
		}
	}
	return cover(asks)
}

// since is the first version that can serve a call.
func since(c Call) kubeletauthz.Minor {
	first := kubeletauthz.MinorOldest
	for _, e := range kubeletauthz.Endpoints() {
		if e.Since > first && (c.Path == e.Path || strings.HasPrefix(c.Path, e.Path+"/")) && !c.Proxied {
			return e.Since
		}
	}
	return first
}

// cover takes the questions that have one answer first, then of the others those that none of these answers.
func cover(asks [][]Need) []Need {
	var chosen []Need
	slices.SortStableFunc(asks, func(a, b []Need) int { return len(a) - len(b) })
	for _, ask := range asks {
		answered := slices.ContainsFunc(ask, func(n Need) bool { return slices.Contains(chosen, n) })
		if !answered {
			chosen = append(chosen, ask[0])
		}
	}
	slices.SortFunc(chosen, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Subresource, b.Subresource))
	})
	return chosen
}

// Rules returns rules that grant exactly the needs and are ordered like them; neighbouring needs with the same verb
// share a rule. It returns nil without needs.
func Rules(needs []Need) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for i, n := range needs {
		if i == 0 || needs[i-1].Verb != n.Verb {
			rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Verbs: []string{cmp.Or(n.Verb, all)}})
		}
		last := &rules[len(rules)-1]
		last.Resources = append(last.Resources, nodes+n.Subresource)
	}
	return rules
}
