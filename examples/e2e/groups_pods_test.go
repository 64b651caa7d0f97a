package e2e_test

import (
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
)

// kepImage is the image of KEP-3619's steps to reproduce: alice is in a group that
// no pod asked for.
var kepImage = testimage.Spec{
	Files: map[string]string{
		"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n",
		"/etc/group":  "root:x:0:\nalice:x:1000:\ngroup-in-image:x:50000:alice\n",
	},
	Config: v1.Config{User: "alice", Entrypoint: []string{testimage.Program}, Env: []string{"PATH=/"}},
}

// The groups of the KEP's pod under each policy; none is a pod that does not run.
var (
	merged  = []int{1000, 50000, 60000}
	asAsked = []int{1000, 60000}
	none    []int
)

// kepPod is the pod of the KEP's steps to reproduce; an empty policy is left out.
func kepPod(t *testing.T, c *cluster, name, node string, policy corev1.SupplementalGroupsPolicy) *corev1.Pod {
	t.Helper()
	image, err := c.Image("kep:v1", kepImage)
	if err != nil {
		t.Fatal(err)
	}
	alice := int64(1000)
	p := pod(name, node)
	p.Spec.Containers[0].Image = image
	p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &alice, RunAsGroup: &alice, SupplementalGroups: []int64{60000}}
	if policy != "" {
		p.Spec.SecurityContext.SupplementalGroupsPolicy = &policy
	}
	return p
}

// mustRun creates the pod and waits until it is ready or over.
func mustRun(t *testing.T, c *cluster, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	got, err := c.run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// current is the pod as the API server has it now.
func current(t *testing.T, c *cluster, name string) *corev1.Pod {
	t.Helper()
	p, err := c.Admin().CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// firstProcess is what the first process of the pod's container said of itself.
func firstProcess(t *testing.T, c *cluster, namespace, name string) report.Report {
	t.Helper()
	var r report.Report
	await(t, name+" to report", func() bool {
		said, err := c.Admin().CoreV1().Pods(namespace).GetLogs(name, &corev1.PodLogOptions{}).DoRaw(t.Context())
		if err == nil {
			r, err = report.Parse(said)
		}
		return err == nil
	})
	return r
}

// checkGroups compares the first process and the status with what is expected:
// the process always, the status where users are reported.
func checkGroups(t *testing.T, c *cluster, p *corev1.Pod, want []int, reported bool) {
	t.Helper()
	if got := firstProcess(t, c, p.Namespace, p.Name); !slices.Equal(got.Groups, want) {
		t.Errorf("the first process is in %v, want %v", got.Groups, want)
	}
	user := p.Status.ContainerStatuses[0].User
	switch {
	case !reported && user != nil:
		t.Errorf("containerStatuses[0].user = %v, want none", user.Linux)
	case reported && (user == nil || user.Linux == nil):
		t.Error("containerStatuses[0].user is missing")
	case reported:
		groups := make([]int, 0, len(user.Linux.SupplementalGroups))
		for _, g := range user.Linux.SupplementalGroups {
			groups = append(groups, int(g))
		}
		if user.Linux.UID != 1000 || user.Linux.GID != 1000 || !slices.Equal(groups, want) {
			t.Errorf("containerStatuses[0].user = %+v, want 1000, 1000, %v", user.Linux, want)
		}
	}
}

// removeAll deletes the pods and waits until they are gone.
func removeAll(t *testing.T, c *cluster, names ...string) {
	t.Helper()
	soon := int64(1)
	api := c.Admin().CoreV1().Pods(metav1.NamespaceDefault)
	for _, name := range names {
		if err := api.Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &soon}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		await(t, name+" to be gone", func() bool {
			_, err := api.Get(t.Context(), name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}
