package kubernetes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
)

// prediction is kubeletauthz in the place of the kubelet, over what the API server has of RBAC.
type prediction struct {
	guard      http.Handler
	hardened   kubeletauthz.Mapper
	authorizer *authorize.Authorizer

	mu    sync.Mutex
	asked map[string]bool // the reviews
}

type callerKey struct{}

func predictor(t *testing.T, c *kubernetes.Cluster) *prediction {
	t.Helper()
	p := &prediction{asked: map[string]bool{}}
	rules := rbac.New(snapshot(t, c))
	p.authorizer = authorize.New(authorize.ReviewerFunc(func(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
		p.mu.Lock()
		p.asked[review(spec)] = true
		p.mu.Unlock()
		return rules.Review(ctx, spec)
	}), authorize.Options{})
	options := kubeletauthz.Options{Node: kubernetes.DefaultNode, Minor: 37}
	mapper, err := kubeletauthz.New(options)
	if err != nil {
		t.Fatal(err)
	}
	options.HardenedVerbs = true
	if p.hardened, err = kubeletauthz.New(options); err != nil {
		t.Fatal(err)
	}
	guard, err := middleware.New(middleware.Options{
		Authenticator: middleware.AuthenticatorFunc(func(r *http.Request) (authorize.User, bool, error) {
			return r.Context().Value(callerKey{}).(*caller).known, true, nil
		}),
		Authorizer: p.authorizer, Mapper: mapper,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.guard = guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	return p
}

func (p *prediction) answer(t *testing.T, who *caller, cell string) answer {
	t.Helper()
	method, path, _ := strings.Cut(cell, " ")
	u, err := url.Parse("https://node" + path)
	if err != nil {
		t.Fatal(err)
	}
	r := (&http.Request{Method: method, URL: u}).WithContext(context.WithValue(t.Context(), callerKey{}, who))
	w := httptest.NewRecorder()
	p.guard.ServeHTTP(w, r)
	return answer{w.Code, w.Body.String()}
}

// snapshot is all of RBAC that the API server has.
func snapshot(t *testing.T, c *kubernetes.Cluster) *rbac.Snapshot {
	t.Helper()
	objects, all := c.Client().RbacV1(), metav1.ListOptions{}
	roles, err1 := objects.ClusterRoles().List(t.Context(), all)
	bindings, err2 := objects.ClusterRoleBindings().List(t.Context(), all)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	s := &rbac.Snapshot{}
	for i := range roles.Items {
		s.Cluster = append(s.Cluster, &roles.Items[i])
	}
	for i := range bindings.Items {
		s.ClusterBindings = append(s.ClusterBindings, &bindings.Items[i])
	}
	return s
}

// review is a question as text.
func review(spec authorizationv1.SubjectAccessReviewSpec) string {
	text, _ := json.Marshal(spec) // of strings
	return string(text)
}

// checkReviews compares what the kubelet asked about the callers with what was asked in the prediction.
func (p *prediction) checkReviews(t *testing.T, c *kubernetes.Cluster, all []*caller) {
	t.Helper()
	names := map[string]bool{}
	for _, who := range all {
		names[who.user.Name] = true
	}
	var real map[string]bool
	err := kubernetes.Await(t.Context(), "the reviews", func(context.Context) (bool, error) {
		events, err := c.Audit(func(e *auditv1.Event) bool {
			return e.ObjectRef != nil && e.ObjectRef.Resource == "subjectaccessreviews"
		})
		if err != nil {
			return false, err
		}
		real = map[string]bool{}
		for _, e := range events {
			var asked authorizationv1.SubjectAccessReview
			if e.User.Username != "system:node:"+kubernetes.DefaultNode || json.Unmarshal(e.RequestObject.Raw, &asked) != nil || !names[asked.Spec.User] {
				continue
			}
			real[review(asked.Spec)] = true
		}
		return len(missing(p.asked, real)) == 0, fmt.Errorf("not asked: %q", missing(p.asked, real))
	})
	if err != nil {
		t.Error(err)
	}
	if more := missing(real, p.asked); len(more) > 0 {
		t.Errorf("the kubelet asked more: %q", more)
	}
	t.Logf("%d different reviews", len(real))
}

func missing(want, in map[string]bool) (out []string) {
	for k := range want {
		if !in[k] {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), 5)]
}
