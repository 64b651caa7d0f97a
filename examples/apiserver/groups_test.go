package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
)

func strictPod(name string, policy corev1.SupplementalGroupsPolicy) *corev1.Pod {
	p := pod(name, "n1", "c")
	p.Spec.SecurityContext = &corev1.PodSecurityContext{SupplementalGroupsPolicy: &policy}
	return p
}

func TestGroupsPolicy(t *testing.T) {
	backend := memory.New(memory.Options{})
	with := func(gates string) *cluster {
		return start(t, func(o *apiserver.Options) {
			o.Backend, o.Minor, o.Gates = backend, 34, gateSet(t, 34, gates)
		})
	}
	policyOf := func(c *cluster, name string) *corev1.SupplementalGroupsPolicy {
		p := must(c.client(t, c.admin()).CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{}))(t)
		return p.Spec.SecurityContext.SupplementalGroupsPolicy
	}
	on := with("")
	pods := on.client(t, on.admin()).CoreV1().Pods("default")
	t.Run("GRP-10 only Merge and Strict, and neither on Windows", func(t *testing.T) {
		must(pods.Create(t.Context(), strictPod("old", corev1.SupplementalGroupsPolicyStrict), metav1.CreateOptions{}))(t)
		if _, err := pods.Create(t.Context(), strictPod("bad", "strict"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("policy strict = %v, want Invalid", err)
		}
		windows := strictPod("bad", corev1.SupplementalGroupsPolicyMerge)
		windows.Spec.OS = &corev1.PodOS{Name: corev1.Windows}
		if _, err := pods.Create(t.Context(), windows, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("on windows = %v, want Invalid", err)
		}
	})
	on.shutdown(t)
	off := with("SupplementalGroupsPolicy=false")
	pods = off.client(t, off.admin()).CoreV1().Pods("default")
	t.Run("GRP-16 the gate off drops it from new objects and keeps it on old ones", func(t *testing.T) {
		must(pods.Create(t.Context(), strictPod("new", corev1.SupplementalGroupsPolicyStrict), metav1.CreateOptions{}))(t)
		if got := policyOf(off, "new"); got != nil {
			t.Errorf("new pod has %s", *got)
		}
		must(pods.Patch(t.Context(), "old", "application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}))(t)
		if got := policyOf(off, "old"); got == nil || *got != corev1.SupplementalGroupsPolicyStrict {
			t.Errorf("old pod lost its policy")
		}
	})
	t.Run("GRP-16 and the status user is dropped", func(t *testing.T) {
		status := []byte(`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"","user":{"linux":{"uid":1,"gid":1}}}]}}`)
		p := must(pods.Patch(t.Context(), "new", "application/merge-patch+json", status, metav1.PatchOptions{}, "status"))(t)
		if len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].User != nil {
			t.Errorf("status = %+v", p.Status.ContainerStatuses)
		}
	})
}
