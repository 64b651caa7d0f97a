package server

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// documentPath is the endpoint reference that KEP-2862 promises.
const documentPath = "../../../docs/kubeletauthz.md"

// row is an endpoint in the reference: method, path, verb, and the subresources that
// are asked for in order, by column.
var row = regexp.MustCompile("(?m)^\\| ([A-Z]+) \\| `([^`]+)` \\| (\\w+) \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|")

type documented struct {
	method, path, verb string
	asked              [len(columns)]string
}

// columns are the versions of the kubelet that the reference tells apart.
var columns = [...]kubeletauthz.Options{
	{Node: "n", Minor: 31},
	{Node: "n", Minor: 33, Gate: kubeletauthz.GateOff},
	{Node: "n", Minor: 37},
}

func reference(t *testing.T) []documented {
	t.Helper()
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	var out []documented
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		d := documented{method: m[1], path: m[2], verb: m[3]}
		for i := range columns {
			d.asked[i] = strings.TrimSpace(m[4+i])
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		t.Fatal("the reference has no table of endpoints")
	}
	return out
}

// TestRoutesAreDocumented holds the reference against what this kubelet serves and
// what it asks for.
func TestRoutesAreDocumented(t *testing.T) {
	docs := reference(t)
	server := New(Options{Metrics: http.NotFoundHandler()})
	for _, route := range server.Routes() {
		for _, method := range route.Methods {
			path := documentedPath(route.Pattern)
			t.Run("KAZ-13 "+method+" "+path, func(t *testing.T) {
				i := slices.IndexFunc(docs, func(d documented) bool { return d.method == method && d.path == path })
				if i < 0 {
					t.Fatalf("the kubelet serves %s %s, which %s does not list", method, path, documentPath)
				}
				for column, version := range columns {
					verb, asked := attributes(t, version, method, route.Pattern)
					if asked != docs[i].asked[column] || verb != docs[i].verb {
						t.Errorf("with %+v the kubelet asks for %s %s, documented are %s %s", version, verb, asked, docs[i].verb, docs[i].asked[column])
					}
				}
			})
		}
	}
	for _, d := range docs {
		if fine := strings.SplitN(d.path, "/", 3)[1]; slices.Contains([]string{"configz", "healthz", "pods"}, fine) {
			t.Run("KAZ-13 documented "+d.path+" is served", func(t *testing.T) {
				request, err := http.NewRequestWithContext(t.Context(), d.method, d.path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, pattern := server.mux.Handler(request); pattern == "" {
					t.Errorf("%s documents %s %s, which the kubelet does not serve", documentPath, d.method, d.path)
				}
			})
		}
	}
}

// attributes are the verb and the subresources, in order, that a request is authorized by.
func attributes(t *testing.T, version kubeletauthz.Options, method, pattern string) (verb, subresources string) {
	t.Helper()
	mapper, err := kubeletauthz.New(version)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for a := range mapper.Map(method, strings.NewReplacer("{$}", "", "{", "", "}", "").Replace(pattern), "").All() {
		verb, asked = a.Verb, append(asked, a.Subresource)
	}
	return verb, strings.Join(asked, ", ")
}

// documentedPath is a pattern as the reference writes it: one row for a path with and
// without a pod's UID, and with and without its last slash.
func documentedPath(pattern string) string {
	pattern = strings.TrimSuffix(pattern, "{$}")
	pattern = strings.Replace(pattern, "/{uid}", "", 1)
	if pattern == "/pods/" {
		return "/pods"
	}
	return pattern
}
