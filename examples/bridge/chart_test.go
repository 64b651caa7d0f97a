package bridge_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/lint"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/ca"
)

// mapping is a table of a values file.
type mapping = map[string]any

// renderings are the variants that the tests go through.
func renderings(t *testing.T) map[string]mapping {
	authority := authorityPEM(t)
	return map[string]mapping{
		"as it is": nil,
		"drop-in":  {"node": mapping{"mode": "drop-in"}},
		"bind":     {"node": mapping{"mode": "bind"}},
		"wrapper leaves": {
			"node": mapping{"uninstall": true, "mode": "drop-in"},
		},
		"no nodes":        {"node": mapping{"enabled": false}},
		"no lease policy": {"leasePolicy": mapping{"enabled": false}},
		"existing certificate": {
			"tls": mapping{"existingSecret": "serving", "caBundle": authority},
		},
		"certificate of cert-manager": {
			"tls": mapping{"existingSecret": "serving", "injectCAFrom": bridge.Namespace + "/serving"},
		},
		"caller by certificate": {
			"webhook": mapping{"clientCAConfigMap": "callers", "clientNames": []any{"apiserver", "other"}},
		},
		"caller by address": {
			"webhook": mapping{"apiServerCIDRs": []any{"192.0.2.10/32", "2001:db8::/64"}}, "metricsFrom": []any{mapping{"namespaceSelector": mapping{}}},
		},
		"outside": {
			"webhook": mapping{"url": "https://192.0.2.10:8443/secret"}, "tls": mapping{"caBundle": authority},
		},
		"records to standard output":                        {"webhook": mapping{"records": mapping{"stdout": true}}},
		"audit events to files, records to standard output": {"webhook": mapping{"auditEvents": true, "records": mapping{"stdout": true}}},
		"ignore, nobody bypasses": {
			"webhook": mapping{"failurePolicy": "Ignore", "breakGlassGroups": []any{}, "unready": "refuse"},
		},
		"the agent":                       {"agent": mapping{"enabled": true}},
		"the agent, by the connector":     {"agent": mapping{"enabled": true, "mode": "connector"}},
		"the agent, to standard output":   {"agent": mapping{"enabled": true, "mode": "auto", "pin": false, "output": mapping{"stdout": true}}},
		"the agent without the node part": {"agent": mapping{"enabled": true}, "node": mapping{"enabled": false}},
		"everything else": {
			"image": mapping{
				"registry": "registry.example:5000", "digest": "sha256:" + strings.Repeat("0", 64), "pullSecrets": []any{mapping{"name": "pull"}},
			},
			"webhook": mapping{
				"replicas": 3, "pathSecret": strings.Repeat("s", 32), "records": mapping{"existingClaim": "records", "fileMiB": 1, "keep": 0},
				"auditEvents": true, "recordFailure": "allow", "tokenLifetime": "90s",
				"priorityClassName": "system-cluster-critical", "nodeSelector": mapping{"pool": "a"}, "tolerations": []any{mapping{"operator": "Exists"}},
			},
			"node": mapping{
				"nodeSelector": mapping{"pool": "b"}, "priorityClassName": "system-node-critical", "maxUnavailable": 1,
				"mark": "workloads", "failure": "open", "unmarkedNamespaces": []any{"ssh"}, "journalKey": "/etc/lanyard/journal.key",
				"exitCodes": true, "seLinuxOptions": mapping{"type": "spc_t"},
			},
			"agent": mapping{
				"enabled": true, "args": "omit", "ringMiB": 64, "output": mapping{"directory": "/srv/events", "fileMiB": 1, "keep": 0},
				"maxUnavailable": 1, "priorityClassName": "system-node-critical", "nodeSelector": mapping{"pool": "b"},
				"tolerations": []any{}, "seLinuxOptions": mapping{"type": "spc_t"},
			},
		},
	}
}

func TestChart(t *testing.T) {
	chart := loadChart(t)
	for name, values := range renderings(t) {
		t.Run("BRG-9 lint and rendering: "+name, func(t *testing.T) {
			dir, err := bridge.ChartDir()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range lint.All(dir, values, bridge.Namespace, true).Messages {
				// What is only advice there is about an icon.
				if m.Severity > 1 {
					t.Error(m.Path, m.Err)
				}
			}
			objects, notes, err := chart.Render(bridge.Release{Values: values})
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects {
				if object.GetLabels()["app.kubernetes.io/instance"] != "lanyard" {
					t.Errorf("%s %s lacks the release's label", object.GetKind(), object.GetName())
				}
			}
			if strings.Contains(notes, "<no value>") || !strings.Contains(notes, "level Metadata") {
				t.Errorf("notes:\n%s", notes)
			}
		})
	}
}

func TestChartRefuses(t *testing.T) {
	chart, authority := loadChart(t), authorityPEM(t)
	for name, wrong := range map[string]struct {
		values mapping
		says   string
	}{
		"an unknown value":              {mapping{"webhok": mapping{}}, "webhok"},
		"an unknown mode":               {mapping{"node": mapping{"mode": "magic"}}, "mode"},
		"an unknown failure policy":     {mapping{"webhook": mapping{"failurePolicy": "fail"}}, "failurePolicy"},
		"kube-system not exempt":        {mapping{"webhook": mapping{"systemNamespaces": []any{"other"}}}, "systemNamespaces"},
		"a timeout beyond Kubernetes'":  {mapping{"webhook": mapping{"timeoutSeconds": 31}}, "timeoutSeconds"},
		"no replica":                    {mapping{"webhook": mapping{"replicas": 0}}, "replicas"},
		"records without a bound":       {mapping{"webhook": mapping{"records": mapping{"keep": 0}}}, "needs webhook.records.existingClaim"},
		"files of no size":              {mapping{"webhook": mapping{"records": mapping{"fileMiB": 0}}}, "fileMiB"},
		"a token for an hour":           {mapping{"webhook": mapping{"tokenLifetime": "60m"}}, "tokenLifetime"},
		"a token for eleven minutes":    {mapping{"webhook": mapping{"tokenLifetime": "660s"}}, "tokenLifetime"},
		"another record failure":        {mapping{"webhook": mapping{"recordFailure": "ignore"}}, "recordFailure"},
		"a short path":                  {mapping{"webhook": mapping{"pathSecret": "guess"}}, "pathSecret"},
		"a webhook without TLS":         {mapping{"webhook": mapping{"url": "http://192.0.2.10/"}}, "url"},
		"an address that is no range":   {mapping{"webhook": mapping{"apiServerCIDRs": []any{"192.0.2.10"}}}, "apiServerCIDRs"},
		"a group that ends the CEL":     {mapping{"webhook": mapping{"breakGlassGroups": []any{"a'b"}}}, "breakGlassGroups"},
		"an agent of no mode":           {mapping{"agent": mapping{"mode": "magic"}}, "mode"},
		"arguments of no policy":        {mapping{"agent": mapping{"args": "hide"}}, "args"},
		"a ring of no power of two":     {mapping{"agent": mapping{"ringMiB": 3}}, "ringMiB"},
		"events to a relative path":     {mapping{"agent": mapping{"output": mapping{"directory": "log"}}}, "directory"},
		"a relative path":               {mapping{"node": mapping{"paths": mapping{"runtimes": "usr"}}}, "runtimes"},
		"a bundle that is no PEM":       {mapping{"tls": mapping{"existingSecret": "s", "caBundle": "x"}}, "caBundle"},
		"a certificate without its CA":  {mapping{"tls": mapping{"existingSecret": "s"}}, "needs tls.caBundle"},
		"a CA without its certificate":  {mapping{"tls": mapping{"caBundle": authority}}, "need tls.existingSecret"},
		"two sources of a CA":           {mapping{"tls": mapping{"existingSecret": "s", "caBundle": authority, "injectCAFrom": "a/b"}}, "give one"},
		"names without an authority":    {mapping{"webhook": mapping{"clientNames": []any{"apiserver"}}}, "needs webhook.clientCAConfigMap"},
		"a path beside the certificate": {mapping{"webhook": mapping{"clientCAConfigMap": "c", "pathSecret": strings.Repeat("s", 32)}}, "give one"},
	} {
		t.Run("BRG-9 values refused: "+name, func(t *testing.T) {
			if _, _, err := chart.Render(bridge.Release{Values: wrong.values}); err == nil || !strings.Contains(err.Error(), wrong.says) {
				t.Errorf("Render(…) = %v, want a fault of %q", err, wrong.says)
			}
		})
	}
}

func loadChart(t *testing.T) *bridge.Chart {
	t.Helper()
	chart, err := bridge.LoadChart()
	if err != nil {
		t.Fatal(err)
	}
	return chart
}

func render(t *testing.T, r bridge.Release) bridge.Objects {
	t.Helper()
	objects, _, err := loadChart(t).Render(r)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// typed returns the object of the kind and name as its API's type.
func typed[T any](t *testing.T, objects bridge.Objects, kind, name string) *T {
	t.Helper()
	for _, object := range objects.Only(kind) {
		if object.GetName() == name {
			out := new(T)
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, out, true); err != nil {
				t.Fatal(kind, name, err)
			}
			return out
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

// authorityPEM is an authority's certificate.
func authorityPEM(t *testing.T) string {
	t.Helper()
	authority, err := ca.New("test")
	if err != nil {
		t.Fatal(err)
	}
	return string(authority.PEM())
}
