package main

import (
	"fmt"
	"slices"

	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
	rbacv1 "k8s.io/api/rbac/v1"
)

// dangers are the findings that the tool never leaves unsaid about a rule that it prints itself.
var dangers = []privilege.Code{privilege.CodeRunsCommands, privilege.CodeRunsThroughGet}

// warnings returns what lint would say of a rule that runs commands, one a line; nil when it runs none.
func warnings(rule rbacv1.PolicyRule) []string {
	var found []string
	for _, f := range privilege.Lint("ClusterRole", []rbacv1.PolicyRule{rule}) {
		if slices.Contains(dangers, f.Code) {
			found = append(found, fmt.Sprintf("warning: %s: %s: %s", f.Code, f.Subject, f.Message))
		}
	}
	return found
}

// warn prints the warnings about rules below the line that proposes them.
func warn(c console, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		for _, warning := range warnings(rule) {
			c.line("    %s", warning)
		}
	}
}
