package kubeletauthz_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// served is what a handler saw when it ran.
type served struct {
	route  string
	method string
	url    *url.URL
}

// muxes are three ways to route the kubelet's API with Go's ServeMux: by first segment as go-restful registers its
// services, by the full patterns of Go 1.22, and with a handler at the root that sees whatever nothing else took.
func muxes(ran *[]served) []*http.ServeMux {
	record := func(route string) http.HandlerFunc {
		return func(_ http.ResponseWriter, r *http.Request) {
			*ran = append(*ran, served{route, r.Method, r.URL})
		}
	}
	segments, patterns, rooted := http.NewServeMux(), http.NewServeMux(), http.NewServeMux()
	rooted.HandleFunc("/", record("/"))
	seen := map[string]bool{}
	for _, e := range kubeletauthz.Endpoints() {
		pattern := strings.Replace(e.Path, "{path}", "{path...}", 1)
		if strings.HasSuffix(pattern, "/") {
			pattern += "{$}"
		}
		patterns.HandleFunc(e.Method+" "+pattern, record(e.Path))
		first := "/" + strings.Split(e.Path, "/")[1]
		if seen[first] {
			continue
		}
		seen[first] = true
		for _, mux := range []*http.ServeMux{segments, rooted} {
			mux.HandleFunc(first, record(first))
			mux.HandleFunc(first+"/", record(first))
		}
	}
	return []*http.ServeMux{segments, patterns, rooted}
}

// checkLaw says: what the mapping asks for is what the handler's own route asks for, or proxy alone; and with hardened
// verbs a handler that runs commands is never reached by anything but create.
func checkLaw(t *testing.T, m, hard kubeletauthz.Mapper, s served) {
	t.Helper()
	want := m.Map(s.method, s.route, "").Subresources()
	got := m.Map(s.method, s.url.Path, s.url.RawPath).Subresources()
	if !slices.Equal(got, want) && !slices.Equal(got, []string{"proxy"}) {
		t.Errorf("handler of %s ran for path %q raw %q: Map = %v, want %v or [proxy]", s.route, s.url.Path, s.url.RawPath, got, want)
	}
	first := strings.Split(s.route, "/")[1]
	if slices.Contains([]string{"exec", "attach", "run", "portForward"}, first) {
		if v := hard.Map(s.method, s.url.Path, s.url.RawPath).Verb(); v != "create" {
			t.Errorf("handler of %s ran for path %q raw %q: hardened verb %q, want create", s.route, s.url.Path, s.url.RawPath, v)
		}
	}
}

// route sends a request line's target through every mux and checks the law on each handler that ran.
func route(t *testing.T, method, target string) {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return
	}
	m, hard := mapper(t, kubeletauthz.Options{}), mapper(t, kubeletauthz.Options{HardenedVerbs: true})
	var ran []served
	for _, mux := range muxes(&ran) {
		copied := *u
		r := &http.Request{Method: method, URL: &copied, Host: "kubelet", RequestURI: target, Header: http.Header{}}
		mux.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, s := range ran {
		checkLaw(t, m, hard, s)
	}
}

// targets are request lines that try to reach one handler under another's name.
var targets = []string{
	"/pods", "/pods/", "/%70ods", "/pods%2F..%2Fexec", "/pods/..%2Fexec", "/metrics/%2e%2e/exec/a/b/c", "//exec/a/b/c", "/%2Fexec/a/b/c",
	"/exec/a/b/c", "/%65xec/a/b/c", "/metrics/../exec/a/b/c", "/metrics/./x", "/exec//a/b/c", "/logs/..%5c..%5cx", "/pods;x/../exec",
	"/logs/%E6%97%A5", "/healthz/%00", "/run/a/b/c", "/metrics%2fcadvisor", "/%6detrics/x", "/%252e%252e/exec/a/b/c", "/exec/..%2Fmetrics/b/c",
}

func TestServeMuxNeverServesMoreThanIsAsked(t *testing.T) {
	for _, target := range targets {
		t.Run("KAZ-10 "+target, func(t *testing.T) {
			route(t, "GET", target)
			route(t, "POST", target)
			route(t, "CONNECT", target)
		})
	}
	t.Run("KAZ-10 the law is not vacuous", func(t *testing.T) {
		var ran []served
		for _, mux := range muxes(&ran) {
			mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/%65xec/a/b/c", nil))
		}
		if len(ran) != 3 || !strings.HasPrefix(ran[1].route, "/exec/") {
			t.Fatalf("handlers that ran = %v, want exec's in all three", ran)
		}
	})
}
