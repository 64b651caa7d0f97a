package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/apiserver"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

var (
	errAway = errors.New("away")
	jane    = &user.DefaultInfo{Name: "jane", UID: "1", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}}
)

func getter(t testing.TB) apiserver.Getter {
	m, err := kubeletauthz.New(kubeletauthz.Options{Node: "node-1"})
	if err != nil {
		t.Fatal(err)
	}
	return apiserver.Getter{Mapper: m}
}

func TestGetter(t *testing.T) {
	t.Run("KAZ-2 KAZ-3 the kubelet's attributes in order", func(t *testing.T) {
		record := authorizer.AttributesRecord{
			User: jane, Verb: "get", APIVersion: "v1", Resource: "nodes", Subresource: "pods", Name: "node-1", ResourceRequest: true, Path: "/pods/",
		}
		second := record
		second.Subresource = "proxy"
		got := getter(t).GetRequestAttributes(t.Context(), jane, httptest.NewRequest("GET", "/pods/", nil))
		if want := []authorizer.Attributes{record, second}; !reflect.DeepEqual(got, want) {
			t.Errorf("GetRequestAttributes = %+v, want %+v", got, want)
		}
	})
	t.Run("KAZ-10 an escaped separator is proxy alone", func(t *testing.T) {
		got := getter(t).GetRequestAttributes(t.Context(), jane, httptest.NewRequest("GET", "/pods/..%2Fexec", nil))
		if len(got) != 1 || got[0].GetSubresource() != "proxy" {
			t.Errorf("GetRequestAttributes = %+v, want proxy", got)
		}
	})
}

// fixed is an authenticator with one answer.
type fixed struct {
	response *authenticator.Response
	known    bool
	err      error
}

func (f fixed) AuthenticateRequest(*http.Request) (*authenticator.Response, bool, error) {
	return f.response, f.known, f.err
}

func TestAuthenticator(t *testing.T) {
	ask := func(f fixed) (authorize.User, bool, error) {
		return apiserver.Authenticator(f).Authenticate(httptest.NewRequest("GET", "/", nil))
	}
	t.Run("KAZ-5 user, UID, groups and extra", func(t *testing.T) {
		want := authorize.User{Name: "jane", UID: "1", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}}}
		got, known, err := ask(fixed{&authenticator.Response{User: jane}, true, nil})
		if !reflect.DeepEqual(got, want) || !known || err != nil {
			t.Errorf("Authenticate = %+v, %v, %v, want %+v", got, known, err, want)
		}
	})
	for name, f := range map[string]fixed{
		"not known": {&authenticator.Response{User: jane}, false, nil}, "a fault": {&authenticator.Response{User: jane}, true, errAway},
		"no response": {nil, true, nil}, "no user": {&authenticator.Response{}, true, nil},
	} {
		t.Run("KAZ-4 nobody: "+name, func(t *testing.T) {
			if got, known, err := ask(f); known || got.Name != "" || !errors.Is(err, f.err) {
				t.Errorf("Authenticate = %+v, %v, %v, want nobody", got, known, err)
			}
		})
	}
}

// specOfJane asks whether jane may get nodes/pods of node n.
func specOfJane() authorizationv1.SubjectAccessReviewSpec {
	return authorizationv1.SubjectAccessReviewSpec{
		User: "jane", UID: "1", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Version: "v1", Resource: "nodes", Subresource: "pods", Name: "n"},
	}
}

func TestReviewer(t *testing.T) {
	spec := specOfJane()
	review := func(spec authorizationv1.SubjectAccessReviewSpec, d authorizer.Decision, err error) (authorizationv1.SubjectAccessReviewStatus, authorizer.Attributes, error) {
		var asked authorizer.Attributes
		status, err := apiserver.Reviewer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			asked = a
			return d, "reason", err
		})).Review(t.Context(), spec)
		return status, asked, err
	}
	for d, want := range map[authorizer.Decision]authorizationv1.SubjectAccessReviewStatus{
		authorizer.DecisionAllow: {Allowed: true, Reason: "reason"}, authorizer.DecisionDeny: {Denied: true, Reason: "reason"},
		authorizer.DecisionNoOpinion: {Reason: "reason"},
	} {
		t.Run(fmt.Sprint("KAZ-4 decision ", d), func(t *testing.T) {
			if got, _, err := review(spec, d, nil); got != want || err != nil {
				t.Errorf("Review = %+v, %v, want %+v", got, err, want)
			}
			if got, _, err := review(spec, d, errAway); got.Allowed || got.Denied || !errors.Is(err, errAway) {
				t.Errorf("Review = %+v, %v, want the fault alone", got, err)
			}
		})
	}
	t.Run("KAZ-5 the question arrives whole", func(t *testing.T) {
		_, got, _ := review(spec, authorizer.DecisionAllow, nil)
		want := authorizer.AttributesRecord{User: jane, Verb: "get", APIVersion: "v1", Resource: "nodes", Subresource: "pods", Name: "n", ResourceRequest: true}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("asked %+v, want %+v", got, want)
		}
		_, got, _ = review(authorizationv1.SubjectAccessReviewSpec{NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/x"}}, 0, nil)
		if got.IsResourceRequest() || got.GetPath() != "/x" || got.GetVerb() != "get" {
			t.Errorf("asked %+v, want get /x", got)
		}
	})
	t.Run("KAZ-4 no attributes", func(t *testing.T) {
		if got, _, err := review(authorizationv1.SubjectAccessReviewSpec{}, authorizer.DecisionAllow, nil); got.Allowed || !errors.Is(err, rbac.ErrAttributes) {
			t.Errorf("Review = %+v, %v, want ErrAttributes", got, err)
		}
	})
}

func TestABrokenAuthorizerDenies(t *testing.T) {
	spec := specOfJane()
	for name, a := range map[string]apiserver.Unconditional{
		"one that panics": authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			panic("broken")
		}),
		"nil":                       nil,
		"rules over no source":      apiserver.RBAC(rbac.New(nil)),
		"an authorizer without one": authorizer.AuthorizerFunc(nil),
	} {
		t.Run("KAZ-20 "+name, func(t *testing.T) {
			cache := authorize.NewCache(apiserver.Reviewer(a), authorize.CacheOptions{})
			got, err := cache.Review(t.Context(), spec)
			var fault *authorize.PanicError
			if !errors.As(err, &fault) || got.Allowed {
				t.Errorf("Review = %+v, %v, want a PanicError", got, err)
			}
		})
	}
}

func TestRBAC(t *testing.T) {
	bind := func(name, role string) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: "Group", Name: "g"}},
		}
	}
	decide := apiserver.RBAC(rbac.New(&rbac.Snapshot{
		Cluster: []*rbacv1.ClusterRole{{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"nodes/pods"}, Verbs: []string{"get"}},
			{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
		}}},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{bind("b", "r"), bind("dangling", "gone")},
	}))
	for _, c := range []struct {
		name   string
		ask    authorizer.AttributesRecord
		want   authorizer.Decision
		reason string
	}{
		{"a subresource", authorizer.AttributesRecord{User: jane, ResourceRequest: true, Verb: "get", Resource: "nodes", Subresource: "pods"}, authorizer.DecisionAllow, `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "g"`},
		{"a path", authorizer.AttributesRecord{User: jane, Verb: "get", Path: "/metrics"}, authorizer.DecisionAllow, `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "g"`},
		{"no rule", authorizer.AttributesRecord{User: jane, Verb: "get", Path: "/x"}, authorizer.DecisionNoOpinion, `RBAC: ClusterRoleBinding "dangling": cluster role "gone": role not found`},
		{"no user", authorizer.AttributesRecord{ResourceRequest: true, Verb: "get", Resource: "nodes", Subresource: "pods"}, authorizer.DecisionNoOpinion, ""},
	} {
		t.Run("KAZ-4 "+c.name, func(t *testing.T) {
			if got, reason, err := decide.Authorize(t.Context(), c.ask); got != c.want || reason != c.reason || err != nil {
				t.Errorf("Authorize = %v, %q, %v, want %v, %q", got, reason, err, c.want, c.reason)
			}
		})
	}
}
