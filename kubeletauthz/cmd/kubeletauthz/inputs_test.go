package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Two roles that lint has a finding about, as YAML and as one line of JSON.
const (
	yamlWide = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: wide}\n" +
		"rules: [{apiGroups: [''], resources: [nodes/proxy], verbs: ['*']}]\n"
	yamlOther = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: other}\n" +
		"rules: [{apiGroups: [''], resources: [nodes/proxy], verbs: [get]}]\n"
	jsonWide = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"wide"},` +
		`"rules":[{"apiGroups":[""],"resources":["nodes/proxy"],"verbs":["*"]}]}`
	jsonOther = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"other"},` +
		`"rules":[{"apiGroups":[""],"resources":["nodes/proxy"],"verbs":["get"]}]}`
	aliased = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: wide}\n" +
		"rules: [&r {apiGroups: &g [''], resources: &p [nodes/proxy], verbs: ['*']}, {<<: *r}, {apiGroups: *g, resources: *p, verbs: [get]}]\n"
	// bare is an item as an API server lists it, without kind and apiVersion.
	bare = `{"metadata":{"name":"wide"},"rules":[{"apiGroups":[""],"resources":["nodes/proxy"],"verbs":["*"]}]}`
	// What lint says of each.
	foundWide  = `ClusterRole "wide" rule 1: runs-commands: nodes/proxy: `
	foundOther = `ClusterRole "other" rule 1: runs-through-get: nodes/proxy: `
)

func rawList(kind, items string) string {
	return fmt.Sprintf(`{"kind":%q,"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, items)
}

// inputCases are inputs of every form, what lint finds in them, what it says on standard error, and how it ends.
var inputCases = []struct {
	name, in string
	out      []string // findings, all of them
	errs     []string // what standard error holds, line by line
	code     int
}{
	// Used.
	{name: "an API server's raw list", in: rawList("ClusterRoleList", bare), out: []string{foundWide}, code: exitFound},
	{name: "a raw list whose items name their kind", in: rawList("ClusterRoleList", jsonWide+","+jsonOther), out: []string{foundWide, foundOther}, code: exitFound},
	{name: "a raw list of Roles", in: rawList("RoleList", strings.Replace(bare, `"name"`, `"namespace":"a","name"`, 1)), out: []string{`Role "a/wide" rule 1: namespaced: nodes/proxy: `}, code: exitFound},
	{name: "a raw list as YAML", in: "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleList\nitems:\n- metadata: {name: wide}\n  rules: [{apiGroups: [''], resources: [nodes/proxy], verbs: ['*']}]\n", out: []string{foundWide}, code: exitFound},
	{name: "a List", in: `{"apiVersion":"v1","kind":"List","items":[` + jsonWide + "," + jsonOther + "]}", out: []string{foundWide, foundOther}, code: exitFound},
	{name: "newline-delimited JSON", in: jsonWide + "\n" + jsonOther + "\n", out: []string{foundWide, foundOther}, code: exitFound},
	{name: "JSON objects without a line break between", in: jsonWide + jsonOther, out: []string{foundWide, foundOther}, code: exitFound},
	{name: "JSON objects behind a comment and a marker", in: "# Source: x\n--- # y\n" + jsonWide + "\n" + jsonOther, out: []string{foundWide, foundOther}, code: exitFound},
	{name: "JSON with a surrogate pair and an escaped slash", in: strings.Replace(jsonWide, `"metadata":{`, `"metadata":{"annotations":{"a":"\ud83d\ude00\/"},`, 1), out: []string{foundWide}, code: exitFound},
	{name: "flow YAML with a comment behind", in: jsonWide + " # said\n", out: []string{foundWide}, code: exitFound},
	{name: "YAML behind a document's end", in: yamlOther + "...\n" + yamlWide, out: []string{foundOther, foundWide}, code: exitFound},
	{name: "YAML behind an end and a marker", in: yamlOther + "... # end\n---\n" + yamlWide + "...\n", out: []string{foundOther, foundWide}, code: exitFound},
	{name: "an object on the marker's line", in: yamlOther + "--- " + jsonWide + "\n", out: []string{foundOther, foundWide}, code: exitFound},
	{name: "a marker with a tab behind", in: yamlOther + "---\t\n" + yamlWide, out: []string{foundOther, foundWide}, code: exitFound},
	{name: "a YAML directive", in: "%YAML 1.1\n---\n" + yamlWide, out: []string{foundWide}, code: exitFound},
	{name: "a byte order mark", in: "\ufeff" + yamlWide + "\ufeff---\n" + yamlOther, out: []string{foundWide, foundOther}, code: exitFound},
	{name: "a byte order mark before JSON", in: "\ufeff" + jsonWide + "\n---\n\ufeff" + jsonOther, out: []string{foundWide, foundOther}, code: exitFound},
	{name: "line ends of Windows", in: strings.ReplaceAll(yamlWide+"---\n"+yamlOther+"...\n", "\n", "\r\n"), out: []string{foundWide, foundOther}, code: exitFound},
	{name: "empty documents and comments", in: "---\n---\n# nothing\n---\n" + yamlWide + "---\n\n---\nnull\n", out: []string{foundWide}, code: exitFound},
	{name: "aliases and a merge", in: aliased, out: []string{foundWide, `ClusterRole "wide" rule 2: runs-commands: `, `ClusterRole "wide" rule 3: runs-through-get: `}, code: exitFound},

	// Named as not RBAC.
	{name: "other objects are named", in: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ns}\n---\n" + yamlWide + "---\napiVersion: apps/v1\nkind: Deployment\n", out: []string{foundWide}, errs: []string{`-:1: not RBAC: v1 ConfigMap "ns/c"`, `-:10: not RBAC: apps/v1 Deployment`}, code: exitFound},
	{name: "another object with items of its own", in: "apiVersion: v1\nkind: ConfigMap\nitems: what\n---\n" + yamlWide, out: []string{foundWide}, errs: []string{"-:1: not RBAC: v1 ConfigMap"}, code: exitFound},
	{name: "items of a List are named one by one", in: `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}},` + jsonWide + "]}", out: []string{foundWide}, errs: []string{`-:1: item 1: not RBAC: v1 Secret "s"`}, code: exitFound},
	{name: "a list of another kind", in: `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p"}}]}` + jsonWide, out: []string{foundWide}, errs: []string{`-:1: not RBAC: v1 PodList`}, code: exitFound},
	{name: "a list of another kind that holds a role", in: `{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[` + jsonWide + "]}", out: []string{foundWide}, errs: []string{"-:1: not RBAC: config.kubernetes.io/v1 ResourceList"}, code: exitFound},

	// Refused with its place, the rest judged.
	{name: "one bad document", in: yamlWide + "---\nkind: {{ .Values.kind }}\n---\n" + yamlOther, out: []string{foundWide, foundOther}, errs: []string{"-:6: refused: not YAML (render templates first): "}, code: exitInput},
	{name: "a misspelt field", in: "# c\n---\n" + strings.Replace(yamlWide, "rules", "rule", 1) + "---\n" + yamlOther, out: []string{foundOther}, errs: []string{`-:3: refused: ClusterRole "wide": unknown field "rule"`}, code: exitInput},
	{name: "a field in another case", in: strings.Replace(jsonWide, `"rules"`, `"Rules"`, 1) + "\n" + jsonOther, out: []string{foundOther}, errs: []string{`-:1: refused: ClusterRole "wide": unknown field "Rules"`}, code: exitInput},
	{name: "items in a role", in: yamlWide + "items:\n- {apiVersion: v1, kind: ConfigMap}\n---\n" + yamlOther, out: []string{foundOther}, errs: []string{`-:1: refused: ClusterRole "wide": unknown field "items"`}, code: exitInput},
	{name: "a field twice in JSON", in: "\n" + strings.Replace(jsonWide, `"rules":`, `"rules":[],"rules":`, 1) + "\n" + jsonOther, out: []string{foundOther}, errs: []string{`-:2: refused: ClusterRole "wide": duplicate field "rules"`}, code: exitInput},
	{name: "a kind twice in JSON", in: strings.Replace(jsonWide, `"kind":`, `"kind":"ConfigMap","kind":`, 1) + "\n" + jsonOther, out: []string{foundOther}, errs: []string{`-:1: refused: duplicate field "kind"`}, code: exitInput},
	{name: "a field twice in an item of YAML", in: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: rbac.authorization.k8s.io/v1\n  kind: ClusterRole\n  rules: []\n  rules: []\n---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: ", "already set"}, code: exitInput},
	{name: "one bad item", in: rawList("ClusterRoleList", bare+`,{"metadata":{"name":"x"},"rule":[]},`+jsonOther), out: []string{foundWide, foundOther}, errs: []string{`-:1: item 2: refused: ClusterRole "x": unknown field "rule"`}, code: exitInput},
	{name: "an item of another kind in a raw list", in: rawList("ClusterRoleList", `{"apiVersion":"v1","kind":"ConfigMap"},`+bare), out: []string{foundWide}, errs: []string{"-:1: item 1: refused: v1 ConfigMap in a ClusterRoleList"}, code: exitInput},
	{name: "an item of a List without kind", in: `{"apiVersion":"v1","kind":"List","items":[` + bare + "," + jsonOther + "]}", out: []string{foundOther}, errs: []string{"-:1: item 1: refused: no apiVersion and kind"}, code: exitInput},
	{name: "an item that is none", in: rawList("ClusterRoleList", "null,"+bare), out: []string{foundWide}, errs: []string{"-:1: item 1: refused: not a Kubernetes object"}, code: exitInput},
	{name: "a list in a list", in: `{"apiVersion":"v1","kind":"List","items":[` + rawList("ClusterRoleList", bare) + "]}" + jsonOther, out: []string{foundOther}, errs: []string{"-:1: item 1: refused: a list in a list"}, code: exitInput},
	{name: "a list without items", in: `{"apiVersion":"v1","kind":"List","item":[]}` + jsonOther, out: []string{foundOther}, errs: []string{"-:1: refused: List without items"}, code: exitInput},
	{name: "a list that goes on elsewhere", in: strings.Replace(rawList("ClusterRoleList", bare), `"resourceVersion"`, `"continue"`, 1), out: []string{foundWide}, errs: []string{"-:1: incomplete: the ClusterRoleList goes on"}, code: exitInput},
	{name: "no kind", in: "metadata: {name: wide}\nrules: []\n---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: no apiVersion and kind"}, code: exitInput},
	{name: "no version", in: strings.Replace(jsonWide, `"apiVersion"`, `"apiversion"`, 1) + jsonOther, out: []string{foundOther}, errs: []string{"-:1: refused: no apiVersion and kind"}, code: exitInput},
	{name: "another version of RBAC", in: strings.Replace(yamlWide, "k8s.io/v1", "k8s.io/v1beta1", 1) + "---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: rbac.authorization.k8s.io/v1beta1 ClusterRole"}, code: exitInput},
	{name: "another kind of RBAC", in: strings.Replace(yamlWide, "ClusterRole", "Clusterrole", 1) + "---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: rbac.authorization.k8s.io/v1 Clusterrole"}, code: exitInput},
	{name: "a document that is no object", in: "- a\n---\nhello\n---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: not a Kubernetes object", "-:3: refused: not a Kubernetes object"}, code: exitInput},
	{name: "what follows JSON", in: jsonOther + "\n\nnot JSON\n---\n" + yamlWide, out: []string{foundOther, foundWide}, errs: []string{"-:3: refused: after a JSON object: "}, code: exitInput},
	{name: "a second document behind a lone carriage return", in: strings.ReplaceAll(yamlOther+"---\n"+yamlWide, "\n", "\r") + "\n---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: "}, code: exitInput},
	{name: "a merge that sets a field again", in: strings.Replace(aliased, "<<: *r", "<<: *r, verbs: [get]", 1) + "---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: "}, code: exitInput},
	{name: "an alias to nothing", in: strings.Replace(yamlWide, "'*'", "*", 1) + "---\n" + yamlOther, out: []string{foundOther}, errs: []string{"-:1: refused: not YAML"}, code: exitInput},
	{name: "a number for a name", in: strings.Replace(yamlWide, "[nodes/proxy]", "[1]", 1) + "---\n" + yamlOther, out: []string{foundOther}, errs: []string{`-:1: refused: ClusterRole "wide": `}, code: exitInput},
	{name: "two roles of one name", in: yamlWide + "---\n" + strings.Replace(yamlOther, "other", "wide", 1), out: []string{foundWide, `ClusterRole "wide" rule 1: runs-through-get: `}, errs: []string{`-:6: conflict: ClusterRole "wide" has other rules at -:1`}, code: exitInput},
	{name: "UTF-16", in: "\xff\xfea\x00", errs: []string{"-:1: refused: UTF-16", "no roles"}, code: exitInput},

	// Nothing to judge.
	{name: "nothing", errs: []string{"-: no RBAC objects", "no roles were read"}, code: exitInput},
	{name: "comments only", in: "# a\n---\n# b\n", errs: []string{"-: no RBAC objects", "no roles were read"}, code: exitInput},
	{name: "no RBAC", in: "apiVersion: v1\nkind: ConfigMap\n", errs: []string{"-:1: not RBAC: v1 ConfigMap", "no roles were read"}, code: exitInput},
	{name: "bindings only", in: "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n", errs: []string{"no roles were read"}, code: exitInput},
	{name: "a list whose items are null", in: `{"kind":"RoleList","apiVersion":"rbac.authorization.k8s.io/v1","items":null}`, errs: []string{"-: no RBAC objects", "no roles were read"}, code: exitInput},
	{name: "an empty list", in: rawList("ClusterRoleList", ""), errs: []string{"-: no RBAC objects", "no roles were read"}, code: exitInput},
	{name: "one role twice is one role", in: yamlWide + "---\n" + yamlWide, out: []string{foundWide, foundWide}, code: exitFound},
}

func TestInputs(t *testing.T) {
	for _, c := range inputCases {
		t.Run("KAZ-18 "+c.name, func(t *testing.T) {
			code, out, errs := call(strings.NewReader(c.in), "lint -f -")
			if code != c.code {
				t.Errorf("lint = %d, want %d", code, c.code)
			}
			holds(t, "findings", out, c.out)
			holds(t, "standard error", errs, c.errs)
		})
	}
}

// holds wants one line for each text, in order, and no other line.
func holds(t *testing.T, what, got string, want []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if got == "" {
		lines = nil
	}
	i := 0
	for _, line := range lines {
		for i < len(want) && strings.Contains(line, want[i]) {
			i++
			line = line[strings.Index(line, want[i-1])+len(want[i-1]):]
		}
	}
	if i < len(want) || len(lines) > len(want) {
		t.Errorf("%s:\n%swant\n%s", what, got, strings.Join(want, "\n"))
	}
}

func TestEveryCommandReadsAlike(t *testing.T) {
	binding := `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBindingList","items":[{"metadata":{"name":"b"},` +
		`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"wide"},"subjects":[{"kind":"User","name":"u"}]}]}`
	t.Run("KAZ-18 can follows raw lists", func(t *testing.T) {
		in := rawList("ClusterRoleList", bare) + "\n" + binding
		if code, out, errs := call(strings.NewReader(in), "can --as u GET /pods -f -"); code != exitDone || !strings.HasPrefix(out, "allowed") || errs != "" {
			t.Errorf("can = %d %s%s, want allowed", code, out, errs)
		}
	})
	for _, line := range []string{"can --as u GET /pods -f -", "minimize --endpoints /pods -f -", "lint -f -"} {
		t.Run("KAZ-18 nothing is judged without a role: "+line, func(t *testing.T) {
			code, out, errs := call(strings.NewReader("kind: ConfigMap\napiVersion: v1\n"), line)
			if code != exitInput || out != "" || !strings.Contains(errs, "no roles were read") {
				t.Errorf("%s = %d %s%s, want 1 and no answer", line, code, out, errs)
			}
		})
		t.Run("KAZ-18 a bad document is told and the rest used: "+line, func(t *testing.T) {
			code, out, errs := call(strings.NewReader("kind: {{ x }}\n---\n"+yamlWide), line)
			if code != exitInput || out == "" || !strings.Contains(errs, "-:1: refused: not YAML") {
				t.Errorf("%s = %d %s%s, want 1 with an answer and the place", line, code, out, errs)
			}
		})
	}
	t.Run("KAZ-18 a file that cannot be opened does not silence the others", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("wide.yaml", []byte(yamlWide), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := call(nil, "lint -f gone.yaml -f wide.yaml")
		if code != exitInput || !strings.Contains(out, foundWide) || !strings.Contains(errs, "gone.yaml: no such file") {
			t.Errorf("lint = %d %s%s, want the finding and the fault", code, out, errs)
		}
	})
	t.Run("KAZ-18 too many bytes are refused", func(t *testing.T) {
		code, out, errs := call(strings.NewReader(yamlWide+strings.Repeat("#", maxInputBytes)), "lint -f -")
		if code != exitInput || out != "" || !strings.Contains(errs, "-: more than 67108864 bytes") {
			t.Errorf("lint = %d %s%s, want refused", code, out, errs)
		}
	})
}

func TestAggregation(t *testing.T) {
	aggregated := func(name, label, rules string) string {
		return fmt.Sprintf("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: %s, labels: {to: %s}}\n"+
			"aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: %s}}]}\nrules: %s\n", name, label, name, rules)
	}
	const leaf = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: leaf, labels: {to: inner}}\n" +
		"rules: [{apiGroups: [''], resources: [nodes/pods], verbs: [get]}]\n"
	const binding = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n" +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: outer}\nsubjects: [{kind: User, name: u}]\n"
	for name, in := range map[string]string{
		"of a role that aggregates, read first": aggregated("outer", "none", "[]") + aggregated("inner", "outer", "[]") + leaf,
		"of a role that aggregates, read last":  leaf + aggregated("inner", "outer", "[]") + aggregated("outer", "none", "[]"),
		"in a ring":                             aggregated("inner", "outer", "[]") + aggregated("outer", "inner", "[]") + leaf,
		"without the roles it came from":        aggregated("outer", "none", "[{apiGroups: [''], resources: [nodes/pods], verbs: [get]}]"),
	} {
		t.Run("KAZ-18 a grant "+name, func(t *testing.T) {
			if code, out, errs := call(strings.NewReader(in+binding), "can --as u GET /pods -f -"); code != exitDone || errs != "" {
				t.Errorf("can = %d %s%s, want allowed", code, out, errs)
			}
		})
	}
	t.Run("KAZ-18 a selector that is none does not silence the rest", func(t *testing.T) {
		bad := strings.Replace(aggregated("outer", "none", "[]"), "{to: outer}", "{'a b': x}", 1)
		code, out, errs := call(strings.NewReader(bad+"---\n"+yamlWide), "lint -f -")
		if code != exitInput || !strings.Contains(out, foundWide) || !strings.Contains(errs, `-:2: refused: ClusterRole "outer": `) {
			t.Errorf("lint = %d %s%s, want the finding and the fault", code, out, errs)
		}
	})
}

func TestNothingControlsATerminal(t *testing.T) {
	role := func(name, resource string) string {
		return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: \"%s\"}\n"+
			"rules: [{apiGroups: [''], resources: [\"%s\"], verbs: [get]}]\n", name, resource)
	}
	const nasty = `x\e[2J\x9b1m\u202e\n-: forged`
	for name, c := range map[string]struct{ in, line string }{
		"a resource":                 {role("r", "nodes/"+nasty), "lint -f -"},
		"a role's name":              {role(nasty, "nodes/proxy"), "lint -f -"},
		"a kind":                     {"apiVersion: v1\nkind: \"" + nasty + "\"\n---\n" + role("r", "nodes/proxy"), "lint -f -"},
		"a field":                    {role("r", "nodes/proxy") + "\"" + nasty + "\": 1\n", "lint -f -"},
		"a reference's kind":         {role("r", "nodes/proxy") + "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: '', kind: \"" + nasty + "\", name: r}\nsubjects: [{kind: User, name: u}]\n", "can --as u GET /pods -f -"},
		"a label of a minimized one": {strings.Replace(role("r", "nodes/proxy"), "name:", "labels: {a: \"\\e[2J\\x9b1m\"}, name:", 1), "minimize --endpoints /pods -f -"},
		"a path":                     {role("r", "nodes/proxy"), "can --as u GET /\x1b[2J -f -"},
	} {
		t.Run("KAZ-18 "+name, func(t *testing.T) {
			_, out, errs := call(strings.NewReader(c.in), c.line)
			if all := out + errs; strings.ContainsAny(all, "\x1b\u009b\u202e") || strings.Contains(all, "\n-: forged") {
				t.Errorf("%s = %q %q, which controls a terminal", c.line, out, errs)
			}
		})
	}
}
