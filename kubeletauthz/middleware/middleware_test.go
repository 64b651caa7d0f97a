package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var errBroken = errors.New("token review: secret cause")

// byHeader takes the user's name from a header; "broken" is a fault.
var byHeader = middleware.AuthenticatorFunc(func(r *http.Request) (authorize.User, bool, error) {
	name := r.Header.Get("X-User")
	if name == "broken" {
		return authorize.User{Name: name}, true, errBroken
	}
	return authorize.User{Name: name, Groups: []string{"all"}}, name != "", nil
})

// roles binds each user to one ClusterRole of the user's name with one rule: verbs on a subresource of nodes.
func roles(grants map[string][2]string) *rbac.Authorizer {
	store := &rbac.Snapshot{}
	for user, grant := range grants {
		meta := metav1.ObjectMeta{Name: user}
		store.Cluster = append(store.Cluster, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{grant[1]}, Verbs: strings.Split(grant[0], ",")},
		}})
		store.ClusterBindings = append(store.ClusterBindings, &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: user}, Subjects: []rbacv1.Subject{{Kind: "User", Name: user}},
		})
	}
	return rbac.New(store)
}

// counting counts the reviews and answers "down" with a fault.
type counting struct {
	authorize.Reviewer
	n int
}

func (c *counting) Review(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	c.n++
	if spec.User == "down" {
		return authorizationv1.SubjectAccessReviewStatus{Allowed: true}, errBroken
	}
	return c.Reviewer.Review(ctx, spec)
}

var agents = map[string][2]string{
	"pods": {"get", "nodes/pods"}, "healthz": {"get", "nodes/healthz"}, "configz": {"get", "nodes/configz"},
	"proxy": {"get", "nodes/proxy"}, "creator": {"create", "nodes/proxy"}, "metrics": {"get", "nodes/metrics"}, "all": {"*", "*"},
}

func mapper(t testing.TB, o kubeletauthz.Options) kubeletauthz.Mapper {
	m, err := kubeletauthz.New(o)
	if err != nil {
		t.Fatalf("New(%+v) error = %v", o, err)
	}
	return m
}

// guarded is a handler chain that says "served NAME" to whom it lets pass.
func guarded(t testing.TB, o middleware.Options) http.Handler {
	guard, err := middleware.New(o)
	if err != nil {
		t.Fatalf("New error = %v", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		user, found := middleware.User(r.Context())
		if !found {
			t.Error("no user in the handler's context")
		}
		_, _ = io.WriteString(w, "served "+user.Name)
	})
	return guard(mux)
}

func get(h http.Handler, method, path, user string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("X-User", user)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestResponses(t *testing.T) {
	on := kubeletauthz.Options{Node: "n", Minor: 36}
	off := kubeletauthz.Options{Node: "n", Minor: 35, Gate: kubeletauthz.GateOff}
	for _, c := range []struct {
		name, method, path, user string
		options                  kubeletauthz.Options
		code                     int
		body                     string
		reviews                  int
	}{
		{"KAZ-4 no credentials", "GET", "/pods", "", on, 401, "Unauthorized", 0},
		{"KAZ-4 credentials that cannot be checked", "GET", "/pods", "broken", on, 401, "Unauthorized", 0},
		{"KAZ-2 KAZ-16 nodes/pods reads /pods", "GET", "/pods", "pods", on, 200, "served pods", 1},
		{"KAZ-2 KAZ-16 nodes/pods reads /runningpods/", "GET", "/runningpods/", "pods", on, 200, "served pods", 1},
		{"KAZ-2 KAZ-16 nodes/proxy reads /pods", "GET", "/pods", "proxy", on, 200, "served proxy", 2},
		{"KAZ-2 nodes/healthz reads /healthz/ping", "GET", "/healthz/ping", "healthz", on, 200, "served healthz", 1},
		{"KAZ-2 nodes/configz reads /configz", "GET", "/configz", "configz", on, 200, "served configz", 1},
		{"KAZ-2 gate off: nodes/pods does not read /pods", "GET", "/pods", "pods", off, 403, "Forbidden (user=pods, verb=get, resource=nodes, subresource(s)=[proxy])\n", 1},
		{"KAZ-2 gate off: nodes/proxy does", "GET", "/pods", "proxy", off, 200, "served proxy", 1},
		{"KAZ-4 KAZ-16 refused after both", "GET", "/pods", "healthz", on, 403, "Forbidden (user=healthz, verb=get, resource=nodes, subresource(s)=[pods proxy])\n", 2},
		{"KAZ-1 nodes/proxy does not read /metrics", "GET", "/metrics", "proxy", on, 403, "Forbidden (user=proxy, verb=get, resource=nodes, subresource(s)=[metrics])\n", 1},
		{"KAZ-3 HEAD has no verb", "HEAD", "/metrics", "metrics", on, 403, "Forbidden (user=metrics, verb=, resource=nodes, subresource(s)=[metrics])\n", 1},
		{"KAZ-3 HEAD is matched by *", "HEAD", "/metrics", "all", on, 200, "served all", 1},
		{"KAZ-10 a path that is not clean", "GET", "/pods%2F..%2Fexec", "pods", on, 403, "Forbidden (user=pods, verb=get, resource=nodes, subresource(s)=[proxy])\n", 1},
		{"KAZ-4 a question without answer", "GET", "/pods", "down", on, 500, "Authorization error (user=down, verb=get, resource=nodes, subresource=pods)", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			reviews := &counting{Reviewer: roles(agents)}
			h := guarded(t, middleware.Options{Authenticator: byHeader, Mapper: mapper(t, c.options), Authorizer: authorize.New(reviews, authorize.Options{})})
			w := get(h, c.method, c.path, c.user)
			if w.Code != c.code || w.Body.String() != c.body || reviews.n != c.reviews {
				t.Errorf("%s %s by %q = %d %q after %d reviews, want %d %q after %d", c.method, c.path, c.user, w.Code, w.Body, reviews.n, c.code, c.body, c.reviews)
			}
			if w.Code != 200 && w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("Content-Type = %q, want plain text", w.Header().Get("Content-Type"))
			}
		})
	}
}

func TestCachedCost(t *testing.T) {
	t.Run("KAZ-16 the second request asks nothing", func(t *testing.T) {
		reviews := &counting{Reviewer: roles(agents)}
		authorizer := authorize.New(authorize.NewCache(reviews, authorize.CacheOptions{}), authorize.Options{})
		h := guarded(t, middleware.Options{Authenticator: byHeader, Mapper: mapper(t, kubeletauthz.Options{}), Authorizer: authorizer})
		for _, c := range []struct {
			user string
			code int
			n    int
		}{{"pods", 200, 1}, {"pods", 200, 1}, {"proxy", 200, 3}, {"proxy", 200, 3}, {"metrics", 403, 5}, {"metrics", 403, 5}} {
			if w := get(h, "GET", "/pods", c.user); w.Code != c.code || reviews.n != c.n {
				t.Errorf("GET /pods by %s = %d after %d reviews, want %d after %d", c.user, w.Code, reviews.n, c.code, c.n)
			}
		}
	})
}

func TestWithoutWebhookAuthorization(t *testing.T) {
	for _, gate := range []kubeletauthz.Gate{kubeletauthz.GateOn, kubeletauthz.GateOff} {
		h := guarded(t, middleware.Options{
			Authenticator: byHeader, Authorizer: authorize.AlwaysAllow{}, Mapper: mapper(t, kubeletauthz.Options{Minor: 35, Gate: gate}),
		})
		for _, path := range []string{"/pods", "/exec/a/b/c", "/metrics"} {
			t.Run("KAZ-15 the gate has no effect on "+path, func(t *testing.T) {
				if w := get(h, "GET", path, "anyone"); w.Code != 200 {
					t.Errorf("GET %s = %d, want 200", path, w.Code)
				}
				if w := get(h, "GET", path, ""); w.Code != 401 {
					t.Errorf("GET %s without credentials = %d, want 401", path, w.Code)
				}
			})
		}
	}
}

func TestLogHasWhatResponsesLeaveOut(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := guarded(t, middleware.Options{
		Authenticator: byHeader, Mapper: mapper(t, kubeletauthz.Options{}), Logger: logger,
		Authorizer: authorize.New(&counting{Reviewer: roles(agents)}, authorize.Options{}),
	})
	for user, want := range map[string]string{"broken": "secret cause", "down": "secret cause", "metrics": "subresources=\"[pods proxy]\""} {
		t.Run("KAZ-4 "+user, func(t *testing.T) {
			log.Reset()
			w := get(h, "GET", "/pods", user)
			if !strings.Contains(log.String(), want) || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("log = %s, body = %q, want %q in the log alone", &log, w.Body, want)
			}
		})
	}
}

func TestNewWantsBothParts(t *testing.T) {
	for name, o := range map[string]middleware.Options{
		"nothing": {}, "no authorizer": {Authenticator: byHeader}, "no authenticator": {Authorizer: authorize.AlwaysAllow{}},
	} {
		t.Run("KAZ-4 "+name, func(t *testing.T) {
			if guard, err := middleware.New(o); !errors.Is(err, middleware.ErrIncomplete) || guard != nil {
				t.Errorf("New error = %v, want ErrIncomplete", err)
			}
		})
	}
	if _, found := middleware.User(t.Context()); found {
		t.Error("User found one outside of a guard")
	}
}
