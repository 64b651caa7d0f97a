package kubernetes_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
)

// caller is somebody who calls a kubelet: a service account, or the bearer of a certificate.
type caller struct {
	name    string
	account bool
	groups  []string            // the certificate's
	rules   []rbacv1.PolicyRule // of a ClusterRole of its own
	role    string              // a ClusterRole that Kubernetes brings

	id     string // what its objects are called
	user   *kubernetes.User
	known  authorize.User // as authentication knows it
	client *http.Client
}

// on grants a verb on subresources of nodes.
func on(verb string, subresources ...string) []rbacv1.PolicyRule {
	rule := rbacv1.PolicyRule{APIGroups: []string{""}, Verbs: []string{verb}}
	for _, s := range subresources {
		rule.Resources = append(rule.Resources, "nodes/"+s)
	}
	return []rbacv1.PolicyRule{rule}
}

func onNode(node string, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	rules[0].ResourceNames = []string{node}
	return rules
}

func callers() []*caller {
	return []*caller{
		{name: "nobody"},
		{name: "stats", account: true, rules: on("get", "stats")},
		{name: "metrics", account: true, rules: on("get", "metrics")},
		{name: "log", rules: on("get", "log")},
		{name: "healthz", rules: on("get", "healthz")},
		{name: "configz", rules: on("get", "configz")},
		{name: "statusz", rules: on("get", "statusz")},
		{name: "pods", account: true, rules: on("get", "pods")},
		{name: "checkpoint", rules: on("create", "checkpoint")},
		{name: "proxy-get", account: true, rules: on("get", "proxy")},
		{name: "proxy", rules: on("*", "proxy")},
		{name: "this-node", rules: onNode(kubernetes.DefaultNode, on("get", "pods", "metrics"))},
		{name: "other-node", rules: onNode("other", on("get", "pods", "metrics"))},
		{name: "star", rules: on("*", "*")}, // nodes/* is no wildcard
		{name: "any", rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Verbs: []string{"get"}, Resources: []string{"*/pods"}}}},
		{name: "api-admin", role: "system:kubelet-api-admin"},
		{name: "monitoring", groups: []string{"system:monitoring"}},
		{name: "root", groups: []string{"system:masters"}},
		{name: "system:node:n1", groups: []string{"system:nodes"}},
	}
}

// admit makes the callers and what they may do, and waits until the API server knows.
func admit(t *testing.T, c *kubernetes.Cluster, all []*caller) {
	t.Helper()
	last := &caller{name: "last", rules: on("get", "pods")}
	round := "-" + strings.ToLower(rand.Text()[:6])
	for _, who := range append(all, last) {
		who.id = who.name
		if who.groups == nil {
			who.id += round
		}
		if err := who.create(t.Context(), c); err != nil {
			t.Fatalf("%s: %v", who.name, err)
		}
	}
	// Roles, and bindings, become known in the order in which they were made.
	if err := kubernetes.Await(t.Context(), "the roles", func(ctx context.Context) (bool, error) {
		review, err := c.Client().AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: last.user.Name, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "get", Version: "v1", Resource: "nodes", Subresource: "pods", Name: kubernetes.DefaultNode,
			}},
		}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed, err
	}); err != nil {
		t.Fatal(err)
	}
}

func (w *caller) create(ctx context.Context, c *kubernetes.Cluster) (err error) {
	objects, namespace := c.Client().RbacV1(), metav1.NamespaceDefault
	subject := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: w.id}
	if w.account {
		subject = rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: w.id}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: w.id}}
		if _, err := c.Client().CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
			return err
		}
		w.user, err = c.ServiceAccount(ctx, namespace, w.id)
	} else {
		w.user, err = c.Certificate(w.id, w.groups...)
	}
	if err != nil {
		return err
	}
	if w.known, err = self(ctx, w.user); err != nil {
		return err
	}
	role := w.role
	if role == "" && w.rules != nil {
		role = "test:" + w.id
		made := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: w.rules}
		if _, err := objects.ClusterRoles().Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if role == "" {
		return nil
	}
	_, err = objects.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test:" + w.id}, Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	return err
}

// self is the user as the API server knows it.
func self(ctx context.Context, user *kubernetes.User) (authorize.User, error) {
	client, err := user.Client()
	if err != nil {
		return authorize.User{}, err
	}
	answer, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authorize.User{}, err
	}
	known := answer.Status.UserInfo
	extra := map[string]authorizationv1.ExtraValue{}
	for k, v := range known.Extra {
		extra[k] = authorizationv1.ExtraValue(v)
	}
	return authorize.User{Name: known.Username, UID: known.UID, Groups: known.Groups, Extra: extra}, nil
}

// ask sends every request as every caller, and returns the answers by caller and by method and path.
func ask(t *testing.T, c *kubernetes.Cluster, all []*caller) map[string]map[string]answer {
	t.Helper()
	out := map[string]map[string]answer{}
	errs := make([]error, len(all))
	var work sync.WaitGroup
	for i, who := range all {
		answers := map[string]answer{}
		out[who.name] = answers
		work.Go(func() {
			for _, path := range paths() {
				for _, method := range methods {
					cell := method + " " + path
					answers[cell], errs[i] = who.ask(t.Context(), c.Node(""), cell)
					if errs[i] != nil {
						return
					}
				}
			}
		})
	}
	work.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *caller) ask(ctx context.Context, node *kubernetes.Worker, cell string) (answer, error) {
	if w.client == nil {
		client, err := w.user.HTTP()
		if err != nil {
			return answer{}, err
		}
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		w.client = client
	}
	method, path, _ := strings.Cut(cell, " ")
	r, err := http.NewRequestWithContext(ctx, method, node.URL()+path, nil)
	if err != nil {
		return answer{}, err
	}
	got, err := w.client.Do(r)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %s: %w", w.name, cell, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if got.StatusCode != http.StatusForbidden {
		text = nil
	}
	return answer{got.StatusCode, string(text)}, err
}
