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
// are asked for in order, in 1.31, in 1.32 and from 1.33.
var row = regexp.MustCompile("(?m)^\\| ([A-Z]+) \\| `([^`]+)` \\| (\\w+) \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|")

type documented struct {
	method, path, verb string
	asked              [len(minors)]string // subresources, by version
}

// minors are the Kubernetes versions that the reference has a column for.
var minors = [...]kubeletauthz.Minor{31, 32, 37}

func reference(t *testing.T) []documented {
	t.Helper()
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	var out []documented
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		d := documented{method: m[1], path: m[2], verb: m[3]}
		for i := range minors {
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
				for column, minor := range minors {
					verb, asked := attributes(t, minor, method, route.Pattern)
					if asked != docs[i].asked[column] || verb != docs[i].verb {
						t.Errorf("in 1.%d the kubelet asks for %s %s, documented are %s %s", minor, verb, asked, docs[i].verb, docs[i].asked[column])
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
func attributes(t *testing.T, minor kubeletauthz.Minor, method, pattern string) (verb, subresources string) {
	t.Helper()
	mapper, err := kubeletauthz.New(kubeletauthz.Options{Node: "n", Minor: minor})
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
