package rbac_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func clusterRole(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func clusterBinding(name, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role},
	}
}

func binding(namespace, name, kind, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{Kind: kind, Name: role},
	}
}

func user(name string) rbacv1.Subject  { return rbacv1.Subject{Kind: "User", Name: name} }
func group(name string) rbacv1.Subject { return rbacv1.Subject{Kind: "Group", Name: name} }
func account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}

var (
	readNodes = rule(on(""), on("nodes"), on("get"))
	readPods  = rule(on(""), on("pods"), on("get"))
)

func TestAuthorizeNamesTheGrant(t *testing.T) {
	store := &rbac.Snapshot{
		Cluster:    []*rbacv1.ClusterRole{clusterRole("nodes", readPods, readNodes), clusterRole("pods", readPods)},
		Namespaced: []*rbacv1.Role{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "local"}, Rules: []rbacv1.PolicyRule{readPods}}},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{
			clusterBinding("people", "nodes", user("jane"), group("ops")),
			clusterBinding("nobody", "nodes", account("", "agent")),
			clusterBinding("agents", "nodes", account("mon", "agent")),
		},
		Bindings: []*rbacv1.RoleBinding{
			binding("a", "here", "Role", "local", account("", "worker"), user("bob")),
			binding("b", "there", "ClusterRole", "pods", user("bob")),
		},
	}
	nodes := rbac.Request{Verb: "get", Resource: "nodes"}
	pods := func(namespace string) rbac.Request {
		return rbac.Request{Verb: "get", Resource: "pods", Namespace: namespace}
	}
	as := func(r rbac.Request, user string, groups ...string) rbac.Request {
		r.User, r.Groups = user, groups
		return r
	}
	for _, c := range []struct {
		name string
		ask  rbac.Request
		want string
	}{
		{"by user name", as(nodes, "jane"), `ClusterRoleBinding "people" of ClusterRole "nodes" to User "jane"`},
		{"by group", as(nodes, "x", "dev", "ops"), `ClusterRoleBinding "people" of ClusterRole "nodes" to Group "ops"`},
		{"by service account", as(nodes, "system:serviceaccount:mon:agent"), `ClusterRoleBinding "agents" of ClusterRole "nodes" to ServiceAccount "agent/mon"`},
		{"by role in the namespace", as(pods("a"), "bob"), `RoleBinding "here/a" of Role "local" to User "bob"`},
		{"by cluster role in the namespace", as(pods("b"), "bob"), `RoleBinding "there/b" of ClusterRole "pods" to User "bob"`},
		{"service account of the binding's own namespace", as(pods("a"), "system:serviceaccount:a:worker"), `RoleBinding "here/a" of Role "local" to ServiceAccount "worker/"`},
		{"cluster bindings come first", as(pods("a"), "bob", "ops"), `ClusterRoleBinding "people" of ClusterRole "nodes" to Group "ops"`},
		{"a group name is no user name", as(nodes, "ops"), ""},
		{"a role binding does not reach another namespace", as(pods("c"), "bob"), ""},
		{"a role binding does not reach the cluster", as(pods(""), "bob"), ""},
		{"a service account without namespace in a cluster binding is nobody", as(nodes, "system:serviceaccount::agent"), ""},
	} {
		t.Run("KAZ-12 "+c.name, func(t *testing.T) {
			got, err := rbac.New(store).Authorize(t.Context(), c.ask)
			if err != nil {
				t.Fatalf("Authorize(%+v) error = %v", c.ask, err)
			}
			if got.Allowed != (c.want != "") || got.Allowed && got.Grant.String() != c.want {
				t.Errorf("Authorize(%+v) = %v %q, want %q", c.ask, got.Allowed, got.Grant, c.want)
			}
		})
	}
}

func TestAuthorizeGivesTheRule(t *testing.T) {
	store := &rbac.Snapshot{
		Cluster:         []*rbacv1.ClusterRole{clusterRole("r", readPods, readNodes)},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{clusterBinding("b", "r", user("jane"))},
	}
	got, err := rbac.New(store).Authorize(t.Context(), rbac.Request{User: "jane", Verb: "get", Resource: "nodes"})
	if err != nil || got.Grant.Index != 1 || got.Grant.Rule.Resources[0] != "nodes" {
		t.Errorf("Authorize = %+v, %v, want rule 1", got, err)
	}
}

func TestBrokenBindings(t *testing.T) {
	store := &rbac.Snapshot{
		Cluster: []*rbacv1.ClusterRole{clusterRole("nodes", readNodes)},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{
			clusterBinding("dangling", "gone", user("jane")),
			{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Subjects: []rbacv1.Subject{user("jane")}, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r"}},
			clusterBinding("good", "nodes", user("jane")),
		},
	}
	authorizer := rbac.New(store)
	t.Run("KAZ-4 take nothing from an allow found elsewhere", func(t *testing.T) {
		got, err := authorizer.Authorize(t.Context(), rbac.Request{User: "jane", Verb: "get", Resource: "nodes"})
		if err != nil || !got.Allowed || got.Grant.BindingName != "good" {
			t.Errorf("Authorize = %+v, %v, want allowed by good", got, err)
		}
	})
	t.Run("KAZ-4 are all told when nothing allows", func(t *testing.T) {
		got, err := authorizer.Authorize(t.Context(), rbac.Request{User: "jane", Verb: "delete", Resource: "nodes"})
		if got.Allowed || !errors.Is(err, rbac.ErrNotFound) || !errors.Is(err, rbac.ErrRoleKind) {
			t.Errorf("Authorize = %+v, %v, want both faults", got, err)
		}
		var fault *rbac.BindingError
		if !errors.As(err, &fault) || fault.Name != "dangling" || fault.Kind != "ClusterRoleBinding" {
			t.Errorf("first fault = %+v, want binding dangling", fault)
		}
	})
	t.Run("another user's broken binding is no fault", func(t *testing.T) {
		if _, err := authorizer.Authorize(t.Context(), rbac.Request{User: "bob", Verb: "get", Resource: "nodes"}); err != nil {
			t.Errorf("Authorize error = %v, want none", err)
		}
	})
}

var errStore = errors.New("store is away")

// away fails where its fields say so and is the Snapshot elsewhere.
type away struct {
	rbac.Snapshot
	cluster, local bool
}

func (a *away) ClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	if a.cluster {
		return a.ClusterBindings, errStore
	}
	return a.Snapshot.ClusterRoleBindings(ctx)
}

func (a *away) RoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	if a.local {
		return a.Bindings, errStore
	}
	return a.Snapshot.RoleBindings(ctx, namespace)
}

func TestStoreFaultsAllowNothing(t *testing.T) {
	whole := rbac.Snapshot{
		Cluster:         []*rbacv1.ClusterRole{clusterRole("pods", readPods)},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{clusterBinding("c", "pods", user("jane"))},
		Bindings:        []*rbacv1.RoleBinding{binding("a", "l", "ClusterRole", "pods", user("bob"))},
	}
	for _, c := range []struct {
		name           string
		cluster, local bool
		user           string
		allowed        bool
		says           string
	}{
		{"cluster list away", true, false, "jane", false, "cluster role bindings"},
		{"cluster list away, the namespace's still counts", true, false, "bob", true, ""},
		{"namespace list away", false, true, "bob", false, `namespace "a"`},
		{"namespace list away, the cluster's still counts", false, true, "jane", true, ""},
		{"both away", true, true, "jane", false, "cluster role bindings"},
	} {
		t.Run("KAZ-4 "+c.name, func(t *testing.T) {
			authorizer := rbac.New(&away{whole, c.cluster, c.local})
			got, err := authorizer.Authorize(t.Context(), rbac.Request{User: c.user, Verb: "get", Resource: "pods", Namespace: "a"})
			if got.Allowed != c.allowed || (err == nil) != c.allowed {
				t.Fatalf("Authorize = %+v, %v, want allowed %v", got, err, c.allowed)
			}
			if err != nil && (!errors.Is(err, errStore) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("error = %v, want the store's with %q", err, c.says)
			}
		})
	}
}

func TestGrantsListsAll(t *testing.T) {
	store := &rbac.Snapshot{
		Cluster:         []*rbacv1.ClusterRole{clusterRole("two", readPods, readNodes), clusterRole("one", readNodes)},
		ClusterBindings: []*rbacv1.ClusterRoleBinding{clusterBinding("c", "two", group("g")), clusterBinding("d", "gone", group("g"))},
		Bindings:        []*rbacv1.RoleBinding{binding("a", "l", "ClusterRole", "one", user("jane"))},
	}
	grants, err := rbac.New(store).Grants(t.Context(), "jane", []string{"g"}, "a")
	if len(grants) != 3 || grants[1].Index != 1 || grants[2].BindingNamespace != "a" {
		t.Errorf("Grants = %v, want two of c and one of a/l", grants)
	}
	if !errors.Is(err, rbac.ErrNotFound) {
		t.Errorf("Grants error = %v, want the dangling binding", err)
	}
}
