package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// all is the wildcard of verbs, API groups, resources and non-resource URLs.
const all = "*"

// ruleAllows reports whether one rule allows the request. The user does not matter here: bindings are about users.
func ruleAllows(rule rbacv1.PolicyRule, r Request) bool {
	if !matches(rule.Verbs, r.Verb) {
		return false
	}
	if r.NonResource {
		return matchesPath(rule.NonResourceURLs, r.Path)
	}
	return matches(rule.APIGroups, r.APIGroup) &&
		matchesResource(rule.Resources, r.resource(), r.Subresource) &&
		matchesName(rule.ResourceNames, r.Name)
}

func matches(allowed []string, asked string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool { return a == all || a == asked })
}

// matchesResource knows three forms: "*", the exact "nodes/proxy", and "*/proxy". "nodes/*" is none of them.
func matchesResource(allowed []string, asked, subresource string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if a == all || a == asked {
			return true
		}
		of, found := strings.CutPrefix(a, "*/")
		return found && subresource != "" && of == subresource
	})
}

func matchesName(allowed []string, asked string) bool {
	return len(allowed) == 0 || slices.Contains(allowed, asked)
}

// matchesPath knows the exact path and a trailing "*", which matches any rest, slashes included.
func matchesPath(allowed []string, asked string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		prefix, wild := strings.CutSuffix(a, all)
		if !wild {
			return a == asked
		}
		return strings.HasPrefix(asked, strings.TrimRight(prefix, all))
	})
}
