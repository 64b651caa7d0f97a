package authorize_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	authorizationv1 "k8s.io/api/authorization/v1"
)

const allowed = `{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":true}}`

func TestClientAsks(t *testing.T) {
	t.Run("KAZ-5 a SubjectAccessReview on the wire", func(t *testing.T) {
		var got map[string]any
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "POST" || r.URL.Path != "/apis/authorization.k8s.io/v1/subjectaccessreviews" || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("request = %s %s %v", r.Method, r.URL, r.Header)
			}
			_ = json.NewDecoder(r.Body).Decode(&got)
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, allowed)
		}))
		defer api.Close()
		user := authorize.User{Name: "u", UID: "1", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}}}
		verdict, err := authorize.New(&authorize.Client{Server: api.URL + "/"}, authorize.Options{}).Authorize(t.Context(), user, attributes(t, "/pods", 0))
		if err != nil || !verdict.Allowed {
			t.Fatalf("Authorize = %+v, %v, want allowed", verdict, err)
		}
		spec, _ := json.Marshal(got["spec"])
		if want := `{"extra":{"k":["v"]},"groups":["g"],"resourceAttributes":{"name":"node-1","resource":"nodes","subresource":"pods","verb":"get","version":"v1"},"uid":"1","user":"u"}`; string(spec) != want {
			t.Errorf("spec = %s, want %s", spec, want)
		}
		if got["kind"] != "SubjectAccessReview" || got["apiVersion"] != "authorization.k8s.io/v1" {
			t.Errorf("type = %v %v", got["apiVersion"], got["kind"])
		}
	})
}

// faultyAnswers are what a broken API server may say; none of them allows. The fuzz target is seeded from them.
var faultyAnswers = []struct {
	name string
	code int
	body string
	want error
}{
	{"empty", 201, "", authorize.ErrNotAReview},
	{"null", 201, "null", authorize.ErrNotAReview},
	{"not JSON", 201, "<html>allowed</html>", authorize.ErrNotAReview},
	{"cut short", 201, allowed[:len(allowed)-3], authorize.ErrNotAReview},
	{"more than one", 201, allowed + allowed, authorize.ErrNotAReview},
	{"another kind", 201, strings.Replace(allowed, "SubjectAccessReview", "Status", 1), authorize.ErrNotAReview},
	{"another version", 201, strings.Replace(allowed, "/v1", "/v1beta1", 1), authorize.ErrNotAReview},
	{"no kind", 201, `{"status":{"allowed":true}}`, authorize.ErrNotAReview},
	{"allowed twice", 201, strings.Replace(allowed, `"allowed":true`, `"allowed":false,"allowed":true`, 1), authorize.ErrNotAReview},
	{"status twice", 201, strings.Replace(allowed, `"status"`, `"status":{"denied":true},"status"`, 1), authorize.ErrNotAReview},
	{"a string for a boolean", 201, strings.Replace(allowed, "true", `"true"`, 1), authorize.ErrNotAReview},
	{"too large", 201, strings.Replace(allowed, "{", "{"+strings.Repeat(" ", 1<<20), 1), authorize.ErrNotAReview},
	{"allow and deny at once", 201, strings.Replace(allowed, `"allowed"`, `"denied":true,"allowed"`, 1), authorize.ErrContradiction},
}

// answering is a Client whose server says the same to everyone.
func answering(code int, body string) *authorize.Client {
	return &authorize.Client{Server: "http://api", HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestClientFaultsAllowNothing(t *testing.T) {
	for _, c := range faultyAnswers {
		t.Run("KAZ-4 "+c.name, func(t *testing.T) {
			authorizer := authorize.New(authorize.NewCache(answering(c.code, c.body), authorize.CacheOptions{}), authorize.Options{})
			got, err := authorizer.Authorize(t.Context(), authorize.User{Name: "u"}, attributes(t, "/pods", 0))
			if got.Allowed || !errors.Is(err, c.want) {
				t.Errorf("Authorize = %+v, %v, want %v", got, err, c.want)
			}
		})
	}
	for _, code := range []int{202, 204, 302, 400, 401, 403, 404, 409, 429, 500, 503, 504} {
		t.Run("KAZ-4 status "+http.StatusText(code), func(t *testing.T) {
			got, err := answering(code, allowed+strings.Repeat("x", 1000)).Review(t.Context(), question("u"))
			var fault *authorize.StatusError
			if got.Allowed || !errors.As(err, &fault) || !errors.Is(err, authorize.ErrNotAReview) || fault.Code != code || len(fault.Body.Reveal()) != 512 {
				t.Errorf("Review = %+v, %v, want status %d", got, err, code)
			}
		})
	}
	t.Run("KAZ-4 names are case sensitive", func(t *testing.T) {
		got, err := answering(201, strings.Replace(allowed, "allowed", "Allowed", 1)).Review(t.Context(), question("u"))
		if err != nil || got.Allowed {
			t.Errorf("Review = %+v, %v, want no opinion", got, err)
		}
	})
	t.Run("KAZ-4 a field of a later version is passed over", func(t *testing.T) {
		got, err := answering(200, strings.Replace(allowed, "{", `{"later":1,`, 1)).Review(t.Context(), question("u"))
		if err != nil || !got.Allowed {
			t.Errorf("Review = %+v, %v, want allowed", got, err)
		}
	})
	t.Run("KAZ-4 nobody listens", func(t *testing.T) {
		api := httptest.NewServer(http.NotFoundHandler())
		api.Close()
		if got, err := (&authorize.Client{Server: api.URL}).Review(t.Context(), question("u")); err == nil || got.Allowed {
			t.Errorf("Review = %+v, %v, want a fault", got, err)
		}
	})
	t.Run("KAZ-4 the connection breaks within the answer", func(t *testing.T) {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000")
			_, _ = io.WriteString(w, allowed)
		}))
		defer api.Close()
		if got, err := (&authorize.Client{Server: api.URL}).Review(t.Context(), question("u")); err == nil || got.Allowed {
			t.Errorf("Review = %+v, %v, want a fault", got, err)
		}
	})
	t.Run("KAZ-4 a server that hangs ends with the cache's timeout", func(t *testing.T) {
		release := make(chan struct{})
		api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		defer api.Close()
		defer close(release)
		cache := authorize.NewCache(&authorize.Client{Server: api.URL}, authorize.CacheOptions{Timeout: 20 * time.Millisecond})
		if got, err := cache.Review(t.Context(), question("u")); !errors.Is(err, context.DeadlineExceeded) || got.Allowed {
			t.Errorf("Review = %+v, %v, want the deadline", got, err)
		}
	})
	t.Run("a server's address that is none", func(t *testing.T) {
		if got, err := (&authorize.Client{Server: "://"}).Review(t.Context(), question("u")); err == nil || got.Allowed {
			t.Errorf("Review = %+v, %v, want a fault", got, err)
		}
	})
}
