package privilege

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// ErrResourceNames says that a rule about the kubelet is restricted by resourceNames, so that rules without names would
// be wider.
var ErrResourceNames = errors.New("restricted by resourceNames")

// Minimized is a role's rules after Minimize.
type Minimized struct {
	// Rules are the new rules. Those that did not change share their slices with the old ones.
	Rules []rbacv1.PolicyRule
	// Wide are the positions in Rules, from 0, of wildcards that were left alone because they grant more than kubelet
	// access, and that still grant nodes/proxy.
	Wide []int
}

// Minimize replaces what rules grant on the kubelet's API by what is needed. The new rules follow what is left of the
// first rule that granted any of it, or come last if none did; subresources that were granted keep their order.
// Everything else stays as it is: other resources of the same rule, nodes itself, nodes/status, and wildcards.
//
// It returns an error that wraps [ErrResourceNames] when such a grant has resourceNames.
func Minimize(rules []rbacv1.PolicyRule, needs []Need) (Minimized, error) {
	var rest, had []rbacv1.PolicyRule
	at := -1
	for i, rule := range rules {
		others := slices.DeleteFunc(slices.Clone(rule.Resources), isKubelet)
		if len(others) == len(rule.Resources) {
			rest = append(rest, rule)
			continue
		}
		if len(rule.ResourceNames) > 0 {
			return Minimized{}, fmt.Errorf("rule %d: %w", i+1, ErrResourceNames)
		}
		had = append(had, rule)
		if rule.Resources = others; len(others) > 0 {
			rest = append(rest, rule)
		}
		if at < 0 && slices.ContainsFunc(had[len(had)-1].Resources, isAsked) {
			at = len(rest)
		}
	}
	if at < 0 {
		at = len(rest)
	}
	found := Minimized{Rules: slices.Insert(rest, at, inOrder(Rules(needs), had)...)}
	for i, rule := range found.Rules {
		if wildcard(rule) && grants(rule, proxy) {
			found.Wide = append(found.Wide, i)
		}
	}
	return found, nil
}

// inOrder puts resources that had the same verb before first, as they stood, so that a change shows no more than what
// changed.
func inOrder(rules, had []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	for _, rule := range rules {
		var before []string
		for _, old := range had {
			if slices.Contains(old.Verbs, rule.Verbs[0]) || slices.Contains(old.Verbs, all) {
				before = append(before, old.Resources...)
			}
		}
		place := func(resource string) int {
			if i := slices.Index(before, resource); i >= 0 {
				return i
			}
			return len(before)
		}
		slices.SortStableFunc(rule.Resources, func(a, b string) int { return place(a) - place(b) })
	}
	return rules
}

// isKubelet reports whether a resource, as rules write it, names a part of the kubelet's API. nodes/status is the API
// server's.
func isKubelet(resource string) bool {
	sub, found := strings.CutPrefix(resource, nodes)
	return found && sub != "status"
}

// isAsked reports whether a resource is one that kubelets ask for.
func isAsked(resource string) bool {
	return isKubelet(resource) && slices.Contains(subresources, strings.TrimPrefix(resource, nodes))
}

// grants reports whether a rule reaches a subresource of nodes, with whatever verbs it has.
func grants(rule rbacv1.PolicyRule, subresource string) bool {
	return inCore(rule) && len(rule.Verbs) > 0 && slices.ContainsFunc(rule.Resources, func(r string) bool {
		return r == all || r == nodes+subresource || r == "*/"+subresource
	})
}

func inCore(rule rbacv1.PolicyRule) bool {
	return slices.Contains(rule.APIGroups, "") || slices.Contains(rule.APIGroups, all)
}

func wildcard(rule rbacv1.PolicyRule) bool {
	return slices.ContainsFunc(rule.Resources, func(r string) bool { return r == all || strings.HasPrefix(r, "*/") })
}
