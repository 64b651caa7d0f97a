package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/credprovider/audience"
	"github.com/lanyard-dev/lanyard/examples/stack"
)

// tokens asks as a node for tokens of pods that run there.
type tokens struct {
	*cluster
	node kubernetes.Interface
}

// prepare makes what the requests are about; an API server that was started anew has
// nothing of it.
func (c tokens) prepare(t *testing.T) {
	t.Helper()
	mounting := pod("mounting", "n1")
	mounting.Spec.Volumes = []corev1.Volume{
		{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "mounted", Path: "token"}},
		}}}},
		{Name: "csi", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "csi.example.io"}}},
	}
	for _, one := range []*corev1.Pod{pod("mysa", "n1"), pod("othersa", "n1"), mounting} {
		one.Spec.Containers[0].Image = "example.io/app"
		one.Spec.ServiceAccountName = one.Name
		if one == mounting {
			one.Spec.ServiceAccountName = "othersa"
		} else if _, err := c.Admin().CoreV1().ServiceAccounts("default").Create(t.Context(),
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: one.Name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Admin().CoreV1().Pods("default").Create(t.Context(), one, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "csi.example.io"}, Spec: storagev1.CSIDriverSpec{
		TokenRequests: []storagev1.TokenRequest{{Audience: "of-the-driver"}},
	}}
	if _, err := c.Admin().StorageV1().CSIDrivers().Create(t.Context(), driver, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// ask requests a token of the pod's account, bound to the pod, as the node.
func (c tokens) ask(t *testing.T, pod string, audiences ...string) error {
	t.Helper()
	p, err := c.Admin().CoreV1().Pods("default").Get(t.Context(), pod, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.node.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), p.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			Audiences:      audiences,
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsForbidden(err) {
		t.Fatal(err)
	}
	return err
}

// TestCredentialAudiences is the API server's side of KEP-4412.
func TestCredentialAudiences(t *testing.T) {
	t.Parallel()
	c := tokens{cluster: ownWithoutPods(t, stack.Options{})}
	file, err := c.User("system:node:n1", "system:nodes")
	if err == nil {
		c.node, err = stack.Client(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.prepare(t)
	t.Run("CRP-19 an audience that neither the pod's volumes nor a role have is refused", func(t *testing.T) {
		err := c.ask(t, "mysa", "myaudience")
		if err == nil || !strings.Contains(err.Error(), `is not authorized to request tokens for`) {
			t.Errorf("CreateToken = %v", err)
		}
	})
	t.Run("CRP-19 audiences of the pod's own volumes and of their CSI driver need no role", func(t *testing.T) {
		for _, own := range []string{"mounted", "of-the-driver"} {
			if err := c.ask(t, "mounting", own); err != nil {
				t.Error(err)
			}
			if err := c.ask(t, "othersa", own); err == nil {
				t.Errorf("another pod of the account got audience %q", own)
			}
		}
	})
	for _, example := range []struct {
		name             string
		resources, names []string
		allowed          [4]bool
	}{
		{"any audience for any service account", []string{"*"}, nil, [4]bool{true, true, true, true}},
		{"any audience for mysa", []string{"*"}, []string{"mysa"}, [4]bool{true, false, true, true}},
		{"myaudience for any service account", []string{"myaudience"}, nil, [4]bool{true, true, false, false}},
		{"myaudience for mysa", []string{"myaudience"}, []string{"mysa"}, [4]bool{true, false, false, false}},
		{"the API server's audience for all service accounts", []string{""}, nil, [4]bool{false, false, false, true}},
	} {
		rules := []rbacv1.PolicyRule{{Verbs: []string{audience.Verb}, APIGroups: []string{""}, Resources: example.resources, ResourceNames: example.names}}
		for kind, grant := range map[string]func(*testing.T, []rbacv1.PolicyRule){"ClusterRole": c.clusterRole, "Role": c.role} {
			t.Run(fmt.Sprintf("CRP-27 %s, by a %s", example.name, kind), func(t *testing.T) {
				grant(t, rules)
				got := [4]bool{
					c.ask(t, "mysa", "myaudience") == nil, c.ask(t, "othersa", "myaudience") == nil,
					c.ask(t, "mysa", "another") == nil, c.ask(t, "mysa") == nil,
				}
				if got != example.allowed {
					t.Errorf("myaudience for mysa, for another account, another audience, the API server's: %v, want %v", got, example.allowed)
				}
			})
		}
	}
	t.Run("CRP-27 with the gate off any audience passes", func(t *testing.T) {
		if err := c.RestartAPIServer(t.Context(), "--feature-gates=ServiceAccountNodeAudienceRestriction=false"); err != nil {
			t.Fatal(err)
		}
		c.prepare(t)
		if err := c.ask(t, "mysa", "myaudience", "another"); err != nil {
			t.Error(err)
		}
	})
}

var nodesGroup = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:nodes"}}

// clusterRole gives the rules to all nodes until the test ends.
func (c tokens) clusterRole(t *testing.T, rules []rbacv1.PolicyRule) {
	t.Helper()
	api, name := c.Admin().RbacV1(), metav1.ObjectMeta{Name: "audience"}
	_, err := api.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, Subjects: nodesGroup, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = api.ClusterRoleBindings().Delete(context.Background(), name.Name, metav1.DeleteOptions{})
		_ = api.ClusterRoles().Delete(context.Background(), name.Name, metav1.DeleteOptions{})
	})
}

// role gives the rules to all nodes in the accounts' namespace until the test ends.
func (c tokens) role(t *testing.T, rules []rbacv1.PolicyRule) {
	t.Helper()
	api, name := c.Admin().RbacV1(), metav1.ObjectMeta{Name: "audience"}
	_, err := api.Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: name, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: name, Subjects: nodesGroup, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = api.RoleBindings("default").Delete(context.Background(), name.Name, metav1.DeleteOptions{})
		_ = api.Roles("default").Delete(context.Background(), name.Name, metav1.DeleteOptions{})
	})
}
