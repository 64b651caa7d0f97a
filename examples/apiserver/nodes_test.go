package apiserver_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
)

// TestNodes holds what a kubelet may do: enough for its own pods, nothing for those of others.
func TestNodes(t *testing.T) {
	c := start(t, func(o *apiserver.Options) {
		mounting := pod("mounting", "n1", "c")
		mounting.Spec.Volumes = []corev1.Volume{
			{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "mounted"}}},
			{Name: "t", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "vault", Path: "token"}},
			}}}},
		}
		o.Objects = append(o.Objects, mounting, pod("far", "n2", "c"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mounted"}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "private"}})
	})
	admin := c.client(t, c.admin())
	allowAudience(t, admin, "registry")
	node := c.client(t, c.certificate(t, "system:node:n1", "system:nodes"))
	core, ctx := node.CoreV1(), t.Context()
	podOf := func(name string) *corev1.Pod {
		return must(admin.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{}))(t)
	}
	token := func(p *corev1.Pod, uid, audience string) error {
		r := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
		r.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID}
		if uid == "" {
			r.Spec.BoundObjectRef.UID = ""
		}
		_, err := core.ServiceAccounts("default").CreateToken(ctx, "default", r, metav1.CreateOptions{})
		return err
	}
	status := func(name string) error {
		p := podOf(name)
		p.Status.Message = "seen"
		_, err := core.Pods("default").UpdateStatus(ctx, p, metav1.UpdateOptions{})
		return err
	}
	listPods := func(node string) error {
		_, err := core.Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		return err
	}
	csiNode := func(name string) error {
		csiNodes := node.StorageV1().CSINodes()
		_, err := csiNodes.Create(ctx, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err == nil {
			_, err = csiNodes.Get(ctx, name, metav1.GetOptions{})
		}
		return err
	}
	secret := func(name string) error {
		_, err := core.Secrets("default").Get(ctx, name, metav1.GetOptions{})
		return err
	}
	for _, v := range []struct {
		name    string
		allowed bool
		do      func() error
	}{
		{"its pods are listed", true, func() error { return listPods("n1") }},
		{"the pods of others are not", false, func() error { return listPods("n2") }},
		{"the status of its pod is its own", true, func() error { return status("one") }},
		{"that of another's pod is not", false, func() error { return status("far") }},
		{"a secret that its pod mounts is read", true, func() error { return secret("mounted") }},
		{"another secret is not", false, func() error { return secret("private") }},
		{"CRP-27 a token for its pod, of an audience that a ClusterRole allows", true, func() error { return token(podOf("one"), "uid", "registry") }},
		{"no token for another's pod", false, func() error { return token(podOf("far"), "uid", "registry") }},
		{"no token without the pod's UID", false, func() error { return token(podOf("one"), "", "registry") }},
		{"CRP-19 CRP-27 no token for an audience that nobody allows", false, func() error { return token(podOf("one"), "uid", "elsewhere") }},
		{"CRP-19 a token of an audience that the pod's own volume names", true, func() error { return token(podOf("mounting"), "uid", "vault") }},
		{"CRP-19 not of one that only another pod's volume names", false, func() error { return token(podOf("one"), "uid", "vault") }},
		{"its node's status", true, func() error {
			_, err := core.Nodes().PatchStatus(ctx, "n1", []byte(`{"status":{"phase":"Running"}}`))
			return err
		}},
		{"not another node's", false, func() error {
			_, err := core.Nodes().PatchStatus(ctx, "n2", []byte(`{"status":{"phase":"Running"}}`))
			return err
		}},
		{"no pod of its own making", false, func() error {
			_, err := core.Pods("default").Create(ctx, pod("made", "n1", "c"), metav1.CreateOptions{})
			return err
		}},
		{"STK-13 services are listed, which a real kubelet reads before it starts a container", true, func() error {
			_, err := core.Services("").List(ctx, metav1.ListOptions{FieldSelector: "spec.clusterIP!=None"})
			return err
		}},
		{"it makes none", false, func() error {
			_, err := core.Services("default").Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "made"}}, metav1.CreateOptions{})
			return err
		}},
		{"STK-13 its CSINode, without which a real kubelet ends after minutes, is made and read", true, func() error { return csiNode("n1") }},
		{"another node's is not", false, func() error { return csiNode("n2") }},
		{"no exec", false, func() error {
			_, err := c.exec(t, c.certificate(t, "system:node:n1", "system:nodes"), session{}, "env")
			return forbidden(err)
		}},
	} {
		t.Run("STK-4 a node: "+v.name, func(t *testing.T) {
			err := v.do()
			if v.allowed && err != nil || !v.allowed && !apierrors.IsForbidden(err) {
				t.Errorf("= %v, allowed should be %v", err, v.allowed)
			}
		})
	}
	t.Run("STK-4 a name without the group is no node", func(t *testing.T) {
		impostor := c.client(t, c.certificate(t, "system:node:n1"))
		if _, err := impostor.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("get = %v, want Forbidden", err)
		}
	})
}

// allowAudience lets all nodes ask for tokens of an audience, for the account default.
func allowAudience(t *testing.T, admin kubernetes.Interface, audience string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "audience-" + audience}
	must(admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		Verbs: []string{"request-serviceaccounts-token-audience"}, APIGroups: []string{""}, Resources: []string{audience}, ResourceNames: []string{"default"},
	}}}, metav1.CreateOptions{}))(t)
	must(admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: meta.Name}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "system:nodes"}},
	}, metav1.CreateOptions{}))(t)
}

// TestAudienceGate asks for an audience that nobody allows while ServiceAccountNodeAudienceRestriction is off.
func TestAudienceGate(t *testing.T) {
	t.Run("CRP-27 with the gate off any audience passes", func(t *testing.T) {
		c := start(t, withGates(t, "ServiceAccountNodeAudienceRestriction=false"))
		one := must(c.client(t, c.admin()).CoreV1().Pods("default").Get(t.Context(), "one", metav1.GetOptions{}))(t)
		requestToken(t, c.client(t, c.certificate(t, "system:node:n1", "system:nodes")), "anything", one)
	})
}

// forbidden turns the error of a session that was not opened into the API's.
func forbidden(err error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewForbidden(corev1.Resource("pods/exec"), "", err)
}
