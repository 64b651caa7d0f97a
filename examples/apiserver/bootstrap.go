package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/lanyard-dev/lanyard/examples/apiserver/access"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
)

// bootstrap creates what every server has, then the caller's objects. What is there already stays as it is.
func bootstrap(r *registry.Registry, k kinds.Kinds, fineGrained bool, objects []runtime.Object) error {
	var all []runtime.Object
	for _, name := range access.Reserved() {
		all = append(all, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	all = append(all, roles(fineGrained)...)
	for _, object := range append(all, objects...) {
		if err := create(r, k, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// create stores an object as a client's request would, without admission.
func create(r *registry.Registry, k kinds.Kinds, object runtime.Object) error {
	object = object.DeepCopyObject()
	m, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	kindsOf, _, err := k.Scheme.ObjectKinds(object)
	if err != nil {
		return err
	}
	store := r.ForKind(kindsOf[0].GroupKind())
	if store == nil {
		return fmt.Errorf("%s is not stored by this server", kindsOf[0])
	}
	ctx := request.WithNamespace(context.Background(), m.GetNamespace())
	if _, err := store.Create(ctx, object, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("%s %q: %w", kindsOf[0].Kind, m.GetName(), err)
	}
	return nil
}

// roles are the ones that Kubernetes has and clients here rely on.
func roles(fineGrained bool) []runtime.Object {
	return []runtime.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "cluster-admin"},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}},
				{NonResourceURLs: []string{"*"}, Verbs: []string{"*"}},
			},
		},
		bound("cluster-admin", user.SystemPrivilegedGroup),
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "system:discovery"},
			Rules: []rbacv1.PolicyRule{{
				NonResourceURLs: []string{"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", "/version", "/version/", "/healthz", "/livez", "/readyz"},
				Verbs:           []string{"get"},
			}},
		},
		bound("system:discovery", user.AllAuthenticated),
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "system:basic-user"},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}, Verbs: []string{"create"}},
				{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"}, Verbs: []string{"create"}},
			},
		},
		bound("system:basic-user", user.AllAuthenticated),
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "system:service-account-issuer-discovery"},
			Rules: []rbacv1.PolicyRule{{
				NonResourceURLs: []string{"/.well-known/openid-configuration", "/openid/v1/jwks"}, Verbs: []string{"get"},
			}},
		},
		bound("system:service-account-issuer-discovery", "system:serviceaccounts"),
		rbac.KubeletAPIAdmin(fineGrained),
	}
}

// bound gives the ClusterRole to a group, by a binding of the role's name.
func bound(role, group string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
	}
}
