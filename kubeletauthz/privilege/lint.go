package privilege

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Code names a kind of finding. A code never changes its meaning.
type Code string

// The findings, from the most dangerous down.
const (
	CodeRunsCommands       Code = "runs-commands"       // create or * on nodes/proxy
	CodeRunsThroughGet     Code = "runs-through-get"    // get on nodes/proxy, which a WebSocket turns into exec
	CodeWildcardResources  Code = "wildcard-resources"  // a wildcard that includes the kubelet's API
	CodeWildcardVerbs      Code = "wildcard-verbs"      // every verb on a kubelet subresource
	CodeNodesWildcard      Code = "nodes-wildcard"      // nodes/*, which RBAC does not know
	CodeUnknownSubresource Code = "unknown-subresource" // one that no kubelet asks for
	CodeWrongGroup         Code = "wrong-group"         // nodes outside of the core group
	CodeNamespaced         Code = "namespaced"          // in a Role, which cannot grant on nodes
	CodeUnaskedVerb        Code = "unasked-verb"        // list, watch and others that no kubelet asks for
)

// Finding is a fault of one rule.
type Finding struct {
	// Rule is the rule's position, from 0.
	Rule int
	// Code is the kind.
	Code Code
	// Subject is the resource or verb as the rule writes it.
	Subject string
	// Message says what is wrong and what to write instead.
	Message string
}

// Lint returns the faults of a role's rules about the kubelet's API, ordered by rule and then by resource; nil for
// none. kind is ClusterRole or Role.
func Lint(kind string, rules []rbacv1.PolicyRule) []Finding {
	var found []Finding
	for i, rule := range rules {
		for _, resource := range rule.Resources {
			for _, f := range lintResource(kind, rule, resource) {
				f.Rule, f.Subject = i, resource
				found = append(found, f)
			}
		}
		found = append(found, lintVerbs(i, rule)...)
	}
	return found
}

// lintResource starts with what makes a resource grant nothing; nothing more is said of one that does not.
func lintResource(kind string, rule rbacv1.PolicyRule, resource string) []Finding {
	switch {
	case isKubelet(resource) && kind == "Role":
		return say(CodeNamespaced, "grants nothing: nodes are not in a namespace, so this needs a ClusterRole and a ClusterRoleBinding")
	case isKubelet(resource) && !inCore(rule):
		return say(CodeWrongGroup, `grants nothing: nodes are in the core group, apiGroups: [""]`)
	case resource == nodes+all:
		return say(CodeNodesWildcard, "grants nothing: RBAC has no such wildcard; name the subresources")
	case isKubelet(resource) && !isAsked(resource):
		return say(CodeUnknownSubresource, "grants nothing: no kubelet asks for it"+instead(strings.TrimPrefix(resource, nodes)))
	case kind == "Role" || !inCore(rule):
		return nil
	}
	return lintWidth(rule, resource)
}

// lintWidth looks at a resource that grants something.
func lintWidth(rule rbacv1.PolicyRule, resource string) []Finding {
	var found []Finding
	reachesProxy := resource == all || resource == "*/proxy" || resource == nodes+proxy
	if resource == all || resource == "*/proxy" {
		found = say(CodeWildcardResources, "includes nodes/proxy; name the resources")
	}
	switch {
	case reachesProxy && (slices.Contains(rule.Verbs, all) || slices.Contains(rule.Verbs, "create")):
		found = append(found, say(CodeRunsCommands, "runs commands in every container of the node")...)
	case reachesProxy && slices.Contains(rule.Verbs, "get"):
		found = append(found, say(CodeRunsThroughGet, "is not read-only: a WebSocket is a GET, so get runs commands in every container of the node")...)
	case isKubelet(resource) && slices.Contains(rule.Verbs, all):
		found = append(found, say(CodeWildcardVerbs, "grants every verb; agents that read need get")...)
	}
	return found
}

// lintVerbs looks at rules about the kubelet's API alone, because list and watch mean something for other resources.
func lintVerbs(i int, rule rbacv1.PolicyRule) []Finding {
	if len(rule.Resources) == 0 || !inCore(rule) || slices.ContainsFunc(rule.Resources, func(r string) bool { return !isKubelet(r) }) {
		return nil
	}
	var found []Finding
	for _, verb := range rule.Verbs {
		if !slices.Contains(verbs, verb) {
			found = append(found, Finding{i, CodeUnaskedVerb, verb, "grants nothing: kubelets ask for get, create, update, patch and delete"})
		}
	}
	return found
}

func say(code Code, message string) []Finding { return []Finding{{Code: code, Message: message}} }

// subresources are those that a kubelet of some version from 1.31 on asks for.
var subresources = []string{"checkpoint", "configz", "healthz", "log", "metrics", "pods", proxy, "stats", "statusz"}

// verbs are those that a kubelet asks for, and the wildcard.
var verbs = []string{all, "get", "create", "update", "patch", "delete"}

// instead names the subresource that was probably meant.
func instead(wrong string) string {
	meant := map[string]string{
		"logs": "log", "pod": "pods", "runningpods": "pods", "runningPods": "pods", "metric": "metrics", "stat": "stats", "config": "configz",
		"flagz": "configz", "health": "healthz", "checkpoints": "checkpoint", "summary": "stats", "cadvisor": "metrics",
	}
	if right, found := meant[wrong]; found {
		return fmt.Sprintf("; nodes/%s is meant", right)
	}
	if slices.Contains([]string{"exec", "attach", "run", "portforward", "portForward", "containerLogs"}, wrong) {
		return "; those paths are nodes/proxy"
	}
	if wrong == "spec" {
		return "; the endpoint is gone"
	}
	return ""
}
