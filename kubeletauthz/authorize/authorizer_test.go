package authorize_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	authorizationv1 "k8s.io/api/authorization/v1"
)

type (
	spec   = authorizationv1.SubjectAccessReviewSpec
	status = authorizationv1.SubjectAccessReviewStatus
)

var errAway = errors.New("api server is away")

// script answers by subresource and notes what it was asked.
type script struct {
	mu      sync.Mutex
	asked   []string
	answers map[string]status
	faults  map[string]error
}

func (s *script) Review(_ context.Context, q spec) (status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := q.ResourceAttributes.Subresource
	s.asked = append(s.asked, sub)
	return s.answers[sub], s.faults[sub]
}

var (
	allow = status{Allowed: true, Reason: "rule"}
	deny  = status{Denied: true, Reason: "denied"}
	none  = status{Reason: "no rule"}
	both  = status{Allowed: true, Denied: true}
)

func attributes(t testing.TB, path string, gate kubeletauthz.Gate) kubeletauthz.Attributes {
	m, err := kubeletauthz.New(kubeletauthz.Options{Node: "node-1", Minor: 35, Gate: gate})
	if err != nil {
		t.Fatalf("New error = %v", err)
	}
	return m.Map("GET", path, "")
}

func TestAuthorizeOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		path    string
		gate    kubeletauthz.Gate
		answers map[string]status
		faults  map[string]error
		options authorize.Options
		allowed string
		asked   string
		err     error
	}{
		{name: "KAZ-4 KAZ-16 the fine one allows: one review", path: "/pods", answers: map[string]status{"pods": allow, "proxy": allow}, allowed: "pods", asked: "pods"},
		{name: "KAZ-4 KAZ-16 proxy allows after it: two reviews", path: "/pods", answers: map[string]status{"pods": none, "proxy": allow}, allowed: "proxy", asked: "pods proxy"},
		{name: "KAZ-4 KAZ-16 refused after all: two reviews", path: "/healthz", answers: map[string]status{"healthz": none, "proxy": none}, asked: "healthz proxy"},
		{name: "KAZ-2 KAZ-16 gate off: one review", path: "/pods", gate: kubeletauthz.GateOff, answers: map[string]status{"pods": allow}, asked: "proxy"},
		{name: "KAZ-4 an explicit denial is overruled, as upstream", path: "/pods", answers: map[string]status{"pods": deny, "proxy": allow}, allowed: "proxy", asked: "pods proxy"},
		{name: "KAZ-4 an explicit denial stops by option", path: "/pods", answers: map[string]status{"pods": deny, "proxy": allow}, options: authorize.Options{DenyStops: true}, asked: "pods"},
		{name: "KAZ-4 no opinion does not stop by option", path: "/pods", answers: map[string]status{"pods": none, "proxy": allow}, options: authorize.Options{DenyStops: true}, allowed: "proxy", asked: "pods proxy"},
		{name: "KAZ-4 an error stops before a later allow", path: "/pods", answers: map[string]status{"proxy": allow}, faults: map[string]error{"pods": errAway}, asked: "pods", err: errAway},
		{name: "KAZ-4 an allow with an error is an error", path: "/pods", answers: map[string]status{"pods": allow}, faults: map[string]error{"pods": errAway}, asked: "pods", err: errAway},
		{name: "KAZ-4 an error of the second", path: "/pods", faults: map[string]error{"proxy": errAway}, asked: "pods proxy", err: errAway},
		{name: "KAZ-4 allow and deny at once is an error", path: "/pods", answers: map[string]status{"pods": both, "proxy": allow}, asked: "pods", err: authorize.ErrContradiction},
		{name: "KAZ-1 statusz has no proxy after it", path: "/statusz", answers: map[string]status{"proxy": allow}, asked: "statusz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{answers: c.answers, faults: c.faults}
			got, err := authorize.New(s, c.options).Authorize(t.Context(), authorize.User{Name: "u"}, attributes(t, c.path, c.gate))
			if !errors.Is(err, c.err) || got.Allowed != (c.allowed != "") || got.Attribute.Subresource != c.allowed {
				t.Errorf("Authorize = %+v, %v, want allowed by %q, %v", got, err, c.allowed, c.err)
			}
			if asked := strings.Join(s.asked, " "); asked != c.asked {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
		})
	}
}

func TestAuthorizeSays(t *testing.T) {
	ask := func(s *script) (authorize.Verdict, error) {
		return authorize.New(s, authorize.Options{}).Authorize(t.Context(), authorize.User{}, attributes(t, "/pods", 0))
	}
	t.Run("KAZ-4 the reason of the allow", func(t *testing.T) {
		got, _ := ask(&script{answers: map[string]status{"pods": none, "proxy": allow}})
		if got.Reason != "rule" {
			t.Errorf("Reason = %q, want rule", got.Reason)
		}
	})
	t.Run("KAZ-4 the reasons of all refusals", func(t *testing.T) {
		got, _ := ask(&script{answers: map[string]status{"pods": {Reason: "a", EvaluationError: "b"}, "proxy": {Reason: "c"}}})
		if got.Reason != "a; b; c" {
			t.Errorf("Reason = %q, want a; b; c", got.Reason)
		}
	})
	t.Run("KAZ-4 the question without answer", func(t *testing.T) {
		_, err := ask(&script{faults: map[string]error{"proxy": errAway}})
		var fault *authorize.ReviewError
		if !errors.As(err, &fault) || fault.Attribute.Subresource != "proxy" || !strings.Contains(err.Error(), `get nodes/proxy on "node-1": api server`) {
			t.Errorf("error = %v, want get nodes/proxy", err)
		}
	})
	t.Run("KAZ-4 no attributes are refused unasked", func(t *testing.T) {
		s := &script{answers: map[string]status{"": allow}}
		got, err := authorize.New(s, authorize.Options{}).Authorize(t.Context(), authorize.User{}, kubeletauthz.Attributes{})
		if got.Allowed || err != nil || s.asked != nil {
			t.Errorf("Authorize = %+v, %v, asked %q, want a refusal", got, err, s.asked)
		}
	})
}

func TestWhatIsAsked(t *testing.T) {
	t.Run("KAZ-3 KAZ-5 user, UID, groups, extra and the attribute", func(t *testing.T) {
		user := authorize.User{Name: "u", UID: "1", Groups: []string{"b", "a"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}}}
		a := attributes(t, "/pods", 0)
		want := spec{
			User: "u", UID: "1", Groups: []string{"b", "a"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "get", Version: "v1", Resource: "nodes", Subresource: "pods", Name: "node-1",
			},
		}
		var got spec
		reviewer := authorize.ReviewerFunc(func(_ context.Context, asked spec) (status, error) {
			got = asked
			return allow, nil
		})
		if _, err := authorize.New(reviewer, authorize.Options{}).Authorize(t.Context(), user, a); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("asked %+v, %v, want %+v", got, err, want)
		}
	})
}

func TestAlwaysAllow(t *testing.T) {
	for _, gate := range []kubeletauthz.Gate{kubeletauthz.GateOn, kubeletauthz.GateOff} {
		for _, path := range []string{"/pods", "/exec/a/b/c", "//x"} {
			t.Run("KAZ-15 no review, whatever the gate "+path, func(t *testing.T) {
				got, err := authorize.AlwaysAllow{}.Authorize(t.Context(), authorize.User{Name: "u"}, attributes(t, path, gate))
				if err != nil || !got.Allowed {
					t.Errorf("Authorize = %+v, %v, want allowed", got, err)
				}
			})
		}
	}
}
