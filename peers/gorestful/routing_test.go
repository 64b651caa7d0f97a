package gorestful_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	restful "github.com/emicklei/go-restful/v3"
	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// served is what a handler saw when it ran.
type served struct {
	route  string
	method string
	url    *url.URL
}

// containers serve the kubelet's routes: as the kubelet registers them, with both of go-restful's routers, and below a
// service at the root, where go-restful itself looks for the route.
func containers(ran *[]served) []*restful.Container {
	var all []*restful.Container
	for _, router := range []restful.RouteSelector{restful.CurlyRouter{}, restful.RouterJSR311{}} {
		for _, rooted := range []bool{false, true} {
			c := restful.NewContainer()
			c.Router(router)
			if rooted {
				add(c, "/", "/{any:*}", []string{"GET", "POST"}, ran)
			}
			for root, routes := range services() {
				s := new(restful.WebService).Path(root)
				for _, r := range routes {
					route(s, root, r.path, r.method, ran)
				}
				c.Add(s)
			}
			all = append(all, c)
		}
	}
	return all
}

type methodPath struct{ method, path string }

// services groups the documented routes by their first segment.
func services() map[string][]methodPath {
	all := map[string][]methodPath{}
	for _, e := range kubeletauthz.Endpoints() {
		root, rest, _ := strings.Cut(e.Path[1:], "/")
		rest = "/" + strings.Replace(rest, "{path}", "{path:*}", 1)
		all["/"+root] = append(all["/"+root], methodPath{e.Method, rest})
	}
	return all
}

func add(c *restful.Container, root, path string, methods []string, ran *[]served) {
	s := new(restful.WebService).Path(root)
	for _, m := range methods {
		route(s, root, path, m, ran)
	}
	c.Add(s)
}

func route(s *restful.WebService, root, path, method string, ran *[]served) {
	canonical := root
	if root != "/" {
		canonical += path
	}
	s.Route(s.Method(method).Path(path).To(func(r *restful.Request, _ *restful.Response) {
		*ran = append(*ran, served{canonical, method, r.Request.URL})
	}))
}

// check says: what the mapping asks for is what the handler's own route asks for, or proxy alone; and with hardened
// verbs a handler that runs commands is reached by nothing but create.
func check(t *testing.T, s served) {
	m, err := kubeletauthz.New(kubeletauthz.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hard, err := kubeletauthz.New(kubeletauthz.Options{HardenedVerbs: true})
	if err != nil {
		t.Fatal(err)
	}
	want := m.Map(s.method, s.route, "").Subresources()
	got := m.Map(s.method, s.url.Path, s.url.RawPath).Subresources()
	if !slices.Equal(got, want) && !slices.Equal(got, []string{"proxy"}) {
		t.Errorf("handler of %s ran for path %q raw %q: Map = %v, want %v or [proxy]", s.route, s.url.Path, s.url.RawPath, got, want)
	}
	switch strings.Split(s.route, "/")[1] {
	case "exec", "attach", "run", "portForward":
		if v := hard.Map(s.method, s.url.Path, s.url.RawPath).Verb(); v != "create" {
			t.Errorf("handler of %s ran for path %q raw %q: hardened verb %q", s.route, s.url.Path, s.url.RawPath, v)
		}
	}
}

func send(t *testing.T, method, target string) (ran []served) {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil
	}
	for _, c := range containers(&ran) {
		copied := *u
		c.ServeHTTP(httptest.NewRecorder(), &http.Request{Method: method, URL: &copied, Host: "kubelet", Header: http.Header{}})
		copied = *u // without the mux in front, go-restful routes the decoded path by itself
		c.Dispatch(httptest.NewRecorder(), &http.Request{Method: method, URL: &copied, Host: "kubelet", Header: http.Header{}})
	}
	for _, s := range ran {
		check(t, s)
	}
	return ran
}

var targets = []string{
	"/pods", "/pods/", "/%70ods", "/pods%2F..%2Fexec", "/pods/..%2Fexec", "/metrics/%2e%2e/exec/a/b/c", "//exec/a/b/c", "/%2Fexec/a/b/c",
	"/exec/a/b/c", "/%65xec/a/b/c", "/metrics/../exec/a/b/c", "/exec//a/b/c", "/logs/..%5c..%5cx", "/pods;x/../exec", "///exec/a/b/c",
	"/logs/%E6%97%A5", "/run/a/b/c", "/metrics%2fcadvisor", "/%252e%252e/exec/a/b/c", "/exec/..%2Fmetrics/b/c", "/%2Fpods", "/exec/a/b/c/",
}

func TestRoutingNeverServesMoreThanIsAsked(t *testing.T) {
	for _, target := range targets {
		t.Run("KAZ-10 "+target, func(t *testing.T) {
			for _, method := range []string{"GET", "POST", "CONNECT"} {
				send(t, method, target)
			}
		})
	}
	t.Run("KAZ-10 the law is not vacuous", func(t *testing.T) {
		for target, want := range map[string]string{"/%65xec/a/b/c": "/exec/", "/pods": "/pods", "//exec/a/b/c": "/exec/", "/stats/summary": "/stats/"} {
			if !slices.ContainsFunc(send(t, "GET", target), func(s served) bool { return strings.HasPrefix(s.route, want) }) {
				t.Errorf("GET %s ran no handler of %s", target, want)
			}
		}
	})
}

func FuzzRouting(f *testing.F) {
	for _, target := range targets {
		f.Add("GET", target)
		f.Add("POST", target)
	}
	f.Fuzz(func(t *testing.T, method, target string) { send(t, method, target) })
}
