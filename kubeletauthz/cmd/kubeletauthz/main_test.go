package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// call runs the tool with a command line split at spaces; "_" stands for a space within an argument.
func call(in io.Reader, line string) (code int, out, errs string) {
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "_", " ")
	}
	var stdout, stderr bytes.Buffer
	code = run(args, in, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       string
	}{
		{"KAZ-12 every version", "explain GET /pods", `GET /pods, directly to the kubelet
  1.31 to 1.32   get nodes/proxy
  1.33 to 1.37   get nodes/pods, then get nodes/proxy
  smallest rule for 1.31 and later: apiGroups: [""], resources: ["nodes/proxy"], verbs: ["get"]
    warning: runs-through-get: nodes/proxy: is not read-only: a WebSocket is a GET, so get runs commands in every container of the node
  smallest rule for 1.33 and later: apiGroups: [""], resources: ["nodes/pods"], verbs: ["get"]
GET /api/v1/nodes/{node}/proxy/pods, through the API server
  every version  get nodes/proxy; the kubelet then sees the API server's own identity
    warning: runs-through-get: nodes/proxy: is not read-only: a WebSocket is a GET, so get runs commands in every container of the node
`},
		{"KAZ-12 one version, hardened, flags behind", "explain /exec/a/b/c --version 1.36 --hardened", `GET /exec/a/b/c, directly to the kubelet
  1.36           create nodes/proxy
  smallest rule for 1.36 and later: apiGroups: [""], resources: ["nodes/proxy"], verbs: ["create"]
    warning: runs-commands: nodes/proxy: runs commands in every container of the node
GET /api/v1/nodes/{node}/proxy/exec/a/b/c, through the API server
  every version  get nodes/proxy; the kubelet then sees the API server's own identity
    warning: runs-through-get: nodes/proxy: is not read-only: a WebSocket is a GET, so get runs commands in every container of the node
`},
		{"KAZ-12 KAZ-10 a path that is not clean", "explain --version 1.36 HEAD /pods//", `HEAD /pods//, directly to the kubelet
  the path is not clean: routers may read it differently, so it asks for proxy only
  1.36           * nodes/proxy
  smallest rule for 1.36 and later: apiGroups: [""], resources: ["nodes/proxy"], verbs: ["*"]
    warning: runs-commands: nodes/proxy: runs commands in every container of the node
HEAD /api/v1/nodes/{node}/proxy/pods//, through the API server
  every version  get nodes/proxy; the kubelet then sees the API server's own identity
    warning: runs-through-get: nodes/proxy: is not read-only: a WebSocket is a GET, so get runs commands in every container of the node
`},
		{"KAZ-12 through the API server alone", "explain GET /api/v1/nodes/n1/proxy/metrics", `GET /api/v1/nodes/{node}/proxy/metrics, through the API server
  every version  get nodes/proxy; the kubelet then sees the API server's own identity
    warning: runs-through-get: nodes/proxy: is not read-only: a WebSocket is a GET, so get runs commands in every container of the node
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, out, errs := call(nil, c.line); code != 0 || out != c.want || errs != "" {
				t.Errorf("%s = %d\n%s%s\nwant\n%s", c.line, code, out, errs, c.want)
			}
		})
	}
}

func TestNewerVersion(t *testing.T) {
	for _, c := range []struct{ newer, newest string }{
		{"explain --version 1.99 GET /pods", "explain --version 1.37 GET /pods"},
		{"can --as jane --version 1.38 /pods -f testdata/nfd.yaml", "can --as jane --version 1.37 /pods -f testdata/nfd.yaml"},
		{"minimize --min-version 1.38.1 --endpoints /pods", "minimize --min-version 1.37 --endpoints /pods"},
	} {
		t.Run("KAZ-17 "+c.newer, func(t *testing.T) {
			code, out, errs := call(nil, c.newer)
			wantCode, want, _ := call(nil, c.newest)
			if code != wantCode || out != want {
				t.Errorf("%s = %d\n%swant what %s says: %d\n%s", c.newer, code, out, c.newest, wantCode, want)
			}
			if !strings.HasPrefix(errs, "kubeletauthz: version 1.") || !strings.Contains(errs, "is newer than 1.37") {
				t.Errorf("standard error = %q, want a line about the version", errs)
			}
			if _, _, errs := call(nil, c.newest); strings.Contains(errs, "newer") {
				t.Errorf("standard error = %q for a known version", errs)
			}
		})
	}
}

func TestCan(t *testing.T) {
	const agent = "can --as system:serviceaccount:monitoring:agent "
	const passed = `kubeletauthz: testdata/bindings.yaml:33: not RBAC: v1 ServiceAccount "monitoring/agent"` + "\n"
	for _, c := range []struct {
		name, line string
		code       int
		want       string
	}{
		{"which rule and which attribute", agent + "GET /pods -f testdata/bindings.yaml", 0, `get nodes/pods by rule 1 of ClusterRoleBinding "reader" of ClusterRole "reader" to ServiceAccount "agent/monitoring"`},
		{"an old kubelet asks for proxy", agent + "--version 1.31 GET /pods -f testdata/bindings.yaml", 3, "get nodes/proxy: no rule"},
		{"what was asked in vain, in order", agent + "GET /healthz -f testdata/bindings.yaml", 3, "  get nodes/healthz: no rule\n  get nodes/proxy: no rule\n"},
		{"what would be enough", agent + "GET /healthz -f testdata/bindings.yaml", 3, `enough: apiGroups: [""], resources: ["nodes/healthz"], verbs: ["get"]`},
		{"a fine-grained rule does not help through the API server", agent + "GET /api/v1/nodes/n1/proxy/pods -f testdata/bindings.yaml", 3, "refused: GET /api/v1/nodes/{node}/proxy/pods\n  get nodes/proxy: no rule"},
		{"an aggregated role by an implied group", "can --as system:serviceaccount:logging:x /pods -f testdata/bindings.yaml", 0, `ClusterRole "collected" to Group "system:serviceaccounts:logging"`},
		{"a group by flag", "can --as x --as-group system:serviceaccounts:logging /pods -f testdata/bindings.yaml", 0, `"collected"`},
		{"a broken binding is told", "can --as jane /pods -f testdata/bindings.yaml", 3, `ClusterRoleBinding "dangling": cluster role "gone"`},
	} {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			if code, out, errs := call(nil, c.line); code != c.code || !strings.Contains(out, c.want) || errs != passed {
				t.Errorf("%s = %d\n%s%s\nwant %d with\n%s", c.line, code, out, errs, c.code, c.want)
			}
		})
	}
}

func TestManyDocuments(t *testing.T) {
	t.Run("KAZ-12 several files and standard input", func(t *testing.T) {
		text, err := os.ReadFile("testdata/bindings.yaml")
		if err != nil {
			t.Fatal(err)
		}
		line := "can --as system:serviceaccount:monitoring:agent /pods -f testdata/nfd.yaml -f -"
		if code, out, errs := call(bytes.NewReader(text), line); code != 0 {
			t.Errorf("%s = %d %s%s, want allowed", line, code, out, errs)
		}
	})
	t.Run("KAZ-12 JSON is YAML", func(t *testing.T) {
		json := `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"namespace":"a","name":"r"},"rules":[{"apiGroups":[""],"resources":["nodes/proxy"],"verbs":["get"]}]}`
		code, out, _ := call(strings.NewReader(json), "lint -f -")
		if want := `-: Role "a/r" rule 1: namespaced: nodes/proxy: grants nothing`; code != 3 || !strings.HasPrefix(out, want) {
			t.Errorf("lint = %d %s, want %s", code, out, want)
		}
	})
}

func TestFaults(t *testing.T) {
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
	for _, c := range []struct {
		name, line, in string
		code           int
		want           string
	}{
		{"no command", "", "", 2, "usage:"},
		{"another command", "what", "", 2, "usage:"},
		{"another flag", "lint --what", "", 2, "not defined"},
		{"no file", "lint", "", 2, "-f is missing"},
		{"no user", "can /pods -f -", "", 2, "--as is missing"},
		{"no endpoints", "minimize -f -", "", 2, "--endpoints is missing"},
		{"an endpoint that is none", "minimize --endpoints pods", "", 2, "not a call"},
		{"no path", "explain", "", 2, "want METHOD PATH"},
		{"a version that is too old", "explain --version 1.30 /pods", "", 2, "not a Kubernetes version from 1.31 on"},
		{"an argument too many", "lint what -f -", "", 2, `unexpected "what"`},
		{"several roles to choose from", "minimize --endpoints /pods -f testdata/datadog.yaml", "", 2, "2 ClusterRoles to choose from"},
		{"a file that is not there", "lint -f testdata/gone.yaml", "", 1, "testdata/gone.yaml: no such file"},
		{"a template", "lint -f -", "kind: {{ .Values.kind }}\n", 1, "render templates first"},
		{"the number of the document", "lint -f -", role + "---\n" + role + "rule: []\n", 1, `unknown field "rule"`},
		{"a field twice", "lint -f -", role + "rules: []\nrules: []\n", 1, "already set"},
		{"a named rule", "minimize --endpoints /pods -f -", role + "metadata: {name: r}\nrules: [{apiGroups: [''], resources: [nodes/proxy], verbs: [get], resourceNames: [n1]}]", 1, "restricted by resourceNames"},
	} {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			if code, out, errs := call(strings.NewReader(c.in), c.line); code != c.code || !strings.Contains(errs, c.want) || out != "" {
				t.Errorf("%s = %d\n%s%s\nwant %d with %s", c.line, code, out, errs, c.code, c.want)
			}
		})
	}
	t.Run("help is no fault", func(t *testing.T) {
		if code, out, _ := call(nil, "lint -h"); code != 0 || !strings.HasPrefix(out, "usage:") {
			t.Errorf("lint -h = %d %s, want the usage", code, out)
		}
	})
	t.Run("KAZ-12 a wildcard that is left is told", func(t *testing.T) {
		wild := role + "metadata: {name: r}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: [get]}]"
		code, out, _ := call(strings.NewReader(wild), "minimize --role r --endpoints /pods -f -")
		if code != exitFound || !strings.Contains(out, "# rule 1 still grants nodes/proxy by a wildcard") {
			t.Errorf("minimize = %d %s, want the wildcard", code, out)
		}
	})
}
