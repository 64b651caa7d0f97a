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
	since131, since133 string
}

func reference(t *testing.T) []documented {
	t.Helper()
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	var out []documented
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		out = append(out, documented{m[1], m[2], m[3], strings.TrimSpace(m[4]), strings.TrimSpace(m[6])})
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
	mapper, err := kubeletauthz.New(kubeletauthz.Options{Node: "n", Minor: 37})
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range server.Routes() {
		for _, method := range route.Methods {
			path := documentedPath(route.Pattern)
			t.Run("KAZ-13 "+method+" "+path, func(t *testing.T) {
				i := slices.IndexFunc(docs, func(d documented) bool { return d.method == method && d.path == path })
				if i < 0 {
					t.Fatalf("the kubelet serves %s %s, which %s does not list", method, path, documentPath)
				}
				var asked []string
				for a := range mapper.Map(method, strings.NewReplacer("{", "", "}", "").Replace(path), "").All() {
					asked = append(asked, a.Subresource)
				}
				if got := strings.Join(asked, ", "); got != docs[i].since133 {
					t.Errorf("the kubelet asks for %s, documented are %s", got, docs[i].since133)
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
