package gorestful_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	restful "github.com/emicklei/go-restful/v3"
	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// guarded is a container whose filter is a guard. The user "pods" may get nodes/pods, "proxy" may get nodes/proxy.
func guarded(t *testing.T, hardened bool) *restful.Container {
	mapper, err := kubeletauthz.New(kubeletauthz.Options{HardenedVerbs: hardened})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := middleware.New(middleware.Options{
		Mapper: mapper,
		Authenticator: middleware.AuthenticatorFunc(func(r *http.Request) (authorize.User, bool, error) {
			name := r.Header.Get("X-User")
			return authorize.User{Name: name}, name != "", nil
		}),
		Authorizer: authorize.New(authorize.ReviewerFunc(func(_ context.Context, q authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
			a := q.ResourceAttributes
			return authorizationv1.SubjectAccessReviewStatus{Allowed: a.Verb == "get" && a.Subresource == q.User}, nil
		}), authorize.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := restful.NewContainer()
	c.Filter(restful.HttpMiddlewareHandlerToFilter(guard))
	pods := new(restful.WebService).Path("/pods")
	pods.Route(pods.GET("").To(func(r *restful.Request, w *restful.Response) {
		user, _ := middleware.User(r.Request.Context())
		_, _ = io.WriteString(w, "served "+user.Name)
	}))
	exec := new(restful.WebService).Path("/exec")
	exec.Route(exec.GET("/{namespace}/{pod}/{container}").To(shell))
	return c.Add(pods).Add(exec)
}

// shell takes the connection over as a WebSocket server does, and answers a line.
func shell(_ *restful.Request, w *restful.Response) {
	conn, stream, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	defer conn.Close()
	_, _ = stream.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
	_ = stream.Flush()
	command, _ := stream.ReadString('\n')
	_, _ = stream.WriteString("ran " + command)
	_ = stream.Flush()
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		name, path, user string
		code             int
		body             string
	}{
		{"KAZ-4 allowed", "/pods", "pods", 200, "served pods"},
		{"KAZ-4 allowed by the second", "/pods", "proxy", 200, "served proxy"},
		{"KAZ-4 refused", "/pods", "healthz", 403, "Forbidden (user=healthz, verb=get, resource=nodes, subresource(s)=[pods proxy])\n"},
		{"KAZ-4 nobody", "/pods", "", 401, "Unauthorized"},
		{"KAZ-10 a route that the guard does not see", "/podsx", "pods", 404, "404 page not found\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w := httptest.NewRequest("GET", c.path, nil), httptest.NewRecorder()
			r.Header.Set("X-User", c.user)
			guarded(t, false).ServeHTTP(w, r)
			if w.Code != c.code || w.Body.String() != c.body {
				t.Errorf("GET %s by %q = %d %q, want %d %q", c.path, c.user, w.Code, w.Body, c.code, c.body)
			}
		})
	}
}

func TestWebSocketThroughFilter(t *testing.T) {
	for hardened, want := range map[bool]int{false: 101, true: 403} {
		t.Run(fmt.Sprint("KAZ-11 hardened ", hardened), func(t *testing.T) {
			kubelet := httptest.NewServer(guarded(t, hardened))
			defer kubelet.Close()
			conn, err := net.Dial("tcp", kubelet.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprint(conn, "GET /exec/a/b/c HTTP/1.1\r\nHost: k\r\nX-User: proxy\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			stream := bufio.NewReader(conn)
			response, err := http.ReadResponse(stream, nil)
			if err != nil || response.StatusCode != want {
				t.Fatalf("exec = %v, %v, want %d", response, err, want)
			}
			if want == 101 {
				fmt.Fprintln(conn, "id")
				if answer, _ := stream.ReadString('\n'); answer != "ran id\n" {
					t.Errorf("answer = %q, want ran id", answer)
				}
			}
		})
	}
}
