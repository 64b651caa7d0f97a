package main

import (
	"strings"
	"testing"
)

// agents are real roles, the calls their agents make, and what the tool says of them. What comes out of minimize must
// pass lint.
var agents = []struct {
	name     string
	file     string
	lint     []string // codes and subjects, in order
	minimize string   // arguments
	changes  []string // the changed lines of the diff
	after    []string // what lint says of the result
}{
	{
		name: "Prometheus scrapes kubelets directly", file: "prometheus.yaml",
		lint:     []string{"rule 1: runs-through-get: nodes/proxy"},
		minimize: "--endpoints GET_/metrics,/metrics/cadvisor",
		changes:  []string{"-   - nodes/proxy", "-   - nodes/metrics", `+   - ""`, "+   resources:", "+   - nodes/metrics", "+   verbs:", "+   - get", "+ - apiGroups:"},
	},
	{
		name: "Prometheus scrapes through the API server and still needs proxy", file: "prometheus.yaml",
		lint:     []string{"rule 1: runs-through-get: nodes/proxy"},
		minimize: "--endpoints /api/v1/nodes/{node}/proxy/metrics,/api/v1/nodes/{node}/proxy/metrics/cadvisor",
		changes:  []string{"-   - nodes/proxy", "-   - nodes/metrics", `+   - ""`, "+   resources:", "+   - nodes/proxy", "+   verbs:", "+   - get", "+ - apiGroups:"},
		after:    []string{"rule 2: runs-through-get: nodes/proxy"},
	},
	{
		name: "Datadog on clusters of 1.33 and later", file: "datadog.yaml",
		lint: []string{
			"rule 2: unknown-subresource: nodes/spec", "rule 2: runs-through-get: nodes/proxy",
			"rule 2: unknown-subresource: nodes/spec", "rule 2: unknown-subresource: nodes/logs",
		},
		minimize: "--role datadog --min-version 1.33 --endpoints GET_/pods,/healthz,/configz,/metrics,/metrics/cadvisor,/stats/summary",
		changes:  []string{"-   - nodes/spec", "-   - nodes/proxy", "+   - nodes/configz", "+   - nodes/healthz", "+   - nodes/pods"},
	},
	{
		name: "Datadog's fine-grained rules name two subresources that do not exist", file: "datadog.yaml",
		lint: []string{
			"rule 2: unknown-subresource: nodes/spec", "rule 2: runs-through-get: nodes/proxy",
			"rule 2: unknown-subresource: nodes/spec", "rule 2: unknown-subresource: nodes/logs",
		},
		minimize: "--role datadog-fine --min-version 1.33 --endpoints GET_/pods,/healthz,/configz,/metrics,/metrics/cadvisor,/stats/summary",
		changes:  []string{"-   - nodes/spec", "-   - nodes/logs"},
	},
	{
		name: "OpenTelemetry with pod metadata", file: "opentelemetry.yaml",
		lint:     []string{"rule 1: unknown-subresource: nodes/spec", "rule 5: unasked-verb: watch", "rule 5: unasked-verb: list"},
		minimize: "--min-version 1.33 --endpoints /stats/summary,/pods",
		changes:  []string{"-   - nodes/spec", "+   - nodes/pods", "-   - watch", "-   - list"},
	},
	{
		name: "Alloy discovers and scrapes directly", file: "alloy.yaml",
		lint:     []string{"rule 1: runs-through-get: nodes/proxy"},
		minimize: "--min-version 1.33 --endpoints /pods,/metrics,/metrics/cadvisor",
		changes:  []string{"-   - nodes/proxy", "-   - nodes/metrics", "+   - nodes/metrics", "+   - nodes/pods", "+   verbs:", "+   - get", "+ - apiGroups:", `+   - ""`, "+   resources:"},
	},
	{
		name: "node-feature-discovery is as small as can be", file: "nfd.yaml",
		minimize: "--min-version 1.33 --endpoints GET_/configz",
	},
	{
		name: "node-feature-discovery before 1.33 needs proxy", file: "nfd.yaml",
		minimize: "--min-version 1.31 --endpoints GET_/configz",
		changes:  []string{"-   - nodes/configz", "+   - nodes/proxy"},
		after:    []string{"rule 3: runs-through-get: nodes/proxy"},
	},
}

func TestRealAgents(t *testing.T) {
	for _, a := range agents {
		t.Run("KAZ-12 "+a.name, func(t *testing.T) {
			check(t, "lint", nil, "testdata/"+a.file, a.lint)
			code, out, errs := call(nil, "minimize "+a.minimize+" -f testdata/"+a.file)
			if code != exitDone || errs != "" {
				t.Fatalf("minimize = %d %s", code, errs)
			}
			var changes []string
			for line := range strings.Lines(out) {
				if strings.HasPrefix(line, "# +") || strings.HasPrefix(line, "# -") {
					changes = append(changes, strings.TrimSuffix(line[2:], "\n"))
				}
			}
			if !sameLines(changes, a.changes) {
				t.Errorf("minimize changes\n%s\nwant\n%s", strings.Join(changes, "\n"), strings.Join(a.changes, "\n"))
			}
			check(t, "lint of the result", strings.NewReader(out), "-", a.after)
		})
	}
}

// check compares what lint says with findings that are cut behind the subject.
func check(t *testing.T, what string, in *strings.Reader, file string, want []string) {
	t.Helper()
	code, out, errs := call(in, "lint -f "+file)
	var got []string
	for line := range strings.Lines(out) {
		_, finding, _ := strings.Cut(line, "\" ")
		got = append(got, strings.Join(strings.SplitN(finding, ": ", 4)[:3], ": "))
	}
	if !sameLines(got, want) || (code == exitFound) != (len(want) > 0) || errs != "" {
		t.Errorf("%s = %d %q %s, want %q", what, code, got, errs, want)
	}
}

func sameLines(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }
