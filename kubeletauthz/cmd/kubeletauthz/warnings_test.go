package main

import (
	"strings"
	"testing"
)

// TestWarningsStandBesideTheRule wants what runs commands never to be proposed without a word.
func TestWarningsStandBesideTheRule(t *testing.T) {
	const (
		byGet    = "warning: runs-through-get: nodes/proxy: is not read-only: a WebSocket is a GET, so get runs commands in every container of the node\n"
		commands = "warning: runs-commands: nodes/proxy: runs commands in every container of the node\n"
		wild     = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: [get]}]"
		none     = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: []"
	)
	for _, c := range []struct{ name, in, line, want string }{
		{"explain", "", "explain GET /healthz", "nodes/proxy\"], verbs: [\"get\"]\n    " + byGet + "  smallest rule for 1.33"},
		{"explain through the API server", "", "explain GET /api/v1/nodes/n/proxy/healthz", "own identity\n    " + byGet},
		{"explain a command", "", "explain --hardened --version 1.36 GET /exec/a/b/c", "verbs: [\"create\"]\n    " + commands},
		{"explain what only * grants", "", "explain --version 1.36 HEAD /exec/a/b/c", "verbs: [\"*\"]\n    " + commands},
		{"minimize", "", "minimize --endpoints /pods", "rules:\n# " + byGet + "- apiGroups:\n  - \"\"\n  resources:\n  - nodes/proxy\n"},
		{"minimize, beside the right rule", "", "minimize --endpoints /pods,POST_/run/a/b/c,/stats", "rules:\n# " + commands + "- apiGroups:\n  - \"\"\n  resources:\n  - nodes/proxy\n  verbs:\n  - create\n# " + byGet + "- apiGroups:\n  - \"\"\n  resources:\n  - nodes/proxy\n  - nodes/stats\n"},
		{"minimize with a wildcard left", wild, "minimize --role r --min-version 1.33 --endpoints /pods -f -", "rules:\n# warning: runs-through-get: *: is not read-only: a WebSocket is a GET, so get runs commands in every container of the node\n- apiGroups:\n  - '*'\n"},
		{"can", none, "can --as u --version 1.31 GET /pods -f -", "verbs: [\"get\"]\n    " + byGet},
	} {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			if _, out, _ := call(strings.NewReader(c.in), c.line); !strings.Contains(out, c.want) {
				t.Errorf("%s =\n%swant\n%s", c.line, out, c.want)
			}
		})
	}
	for _, line := range []string{"minimize --min-version 1.33 --endpoints /pods", "minimize --endpoints /metrics"} {
		t.Run("KAZ-12 nothing to warn of: "+line, func(t *testing.T) {
			if code, out, _ := call(nil, line); code != exitDone || strings.Contains(out, "warning") {
				t.Errorf("%s = %d\n%swant no warning", line, code, out)
			}
		})
	}
}
