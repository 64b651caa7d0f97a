package apiserver_test

import (
	"context"
	"errors"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
)

// TestNodes holds what a kubelet may do: enough for its own pods, nothing for those of others.
func TestNodes(t *testing.T) {
	onlyRegistry := func(_ context.Context, _ user.Info, _ *corev1.Pod, _ string, r *authenticationv1.TokenRequest) error {
		for _, audience := range r.Spec.Audiences {
			if audience != "registry" {
				return errors.New("not this audience")
			}
		}
		return nil
	}
	c := start(t, func(o *apiserver.Options) {
		o.NodeAudiences = onlyRegistry
		mounting := pod("mounting", "n1", "c")
		mounting.Spec.Volumes = []corev1.Volume{{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "mounted"}}}}
		o.Objects = append(o.Objects, mounting, pod("far", "n2", "c"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mounted"}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "private"}})
	})
	admin := c.client(t, c.admin())
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
		{"a token for its pod", true, func() error { return token(podOf("one"), "uid", "registry") }},
		{"no token for another's pod", false, func() error { return token(podOf("far"), "uid", "registry") }},
		{"no token without the pod's UID", false, func() error { return token(podOf("one"), "", "registry") }},
		{"CRP-19 no token for an audience that the check refuses", false, func() error { return token(podOf("one"), "uid", "elsewhere") }},
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

// forbidden turns the error of a session that was not opened into the API's.
func forbidden(err error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewForbidden(corev1.Resource("pods/exec"), "", err)
}
