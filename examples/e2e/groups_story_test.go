package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// tenants are two namespaces under the policy of story 1, without and with its last line.
const tenants = `
- namespace: before
  runAsUser: 1000
  runAsGroup: 1000
  supplementalGroups: [60000]
  fsGroups: [1000, 60000]
- namespace: user-alice
  runAsUser: 1000
  runAsGroup: 1000
  supplementalGroups: [60000]
  fsGroups: [1000, 60000]
  requireStrict: true
`

const nobody = 65534

// sharedDirectory is the story's host path: a directory in it is private to the group
// that alice's image gives itself.
func sharedDirectory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	private := filepath.Join(dir, "private-to-gid-50000")
	for _, err := range []error{
		os.Chmod(dir, 0o755),
		os.Mkdir(private, 0o770),
		os.WriteFile(filepath.Join(private, "note"), []byte("for group 50000"), 0o640),
		os.Chown(filepath.Join(private, "note"), nobody, 50000),
		os.Chown(private, nobody, 50000),
		os.Chmod(private, 0o770),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestGroupsStory is KEP-3619's story 1: a policy fixes user and groups, alice brings
// an image that adds one, and only Strict keeps her out.
func TestGroupsStory(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(tenants), 0o644); err != nil {
		t.Fatal(err)
	}
	c := ownWithoutPods(t, stack.Options{
		Nodes:          []stack.Node{{Name: ours}, {Name: containerd, Runtime: stack.Containerd}},
		APIServerFlags: []string{"--pod-policy-file=" + policy},
	})
	dir := sharedDirectory(t)
	for _, namespace := range []string{"before", "user-alice"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if _, err := c.Admin().CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create := func(namespace string, p *corev1.Pod) error {
		source := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}
		p.Spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: source}}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "shared", MountPath: "/mnt/hostpath"}}
		if _, err := c.Admin().CoreV1().Pods(namespace).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := c.AwaitPod(t.Context(), namespace, p.Name)
		return err
	}
	for _, node := range []string{ours, containerd} {
		t.Run("GRP-19 without Strict in the policy the image lets alice in, "+node, func(t *testing.T) {
			if err := create("before", kepPod(t, c, node, node, "")); err != nil {
				t.Fatal(err)
			}
			if got := readPrivate(t, c, "before", node); got.out != "for group 50000" {
				t.Errorf("exit %d, %q, %s, want the note", got.code, got.out, got.err)
			}
			checkProcesses(t, c, "before", node, merged)
		})
		t.Run("GRP-19 the policy that requires Strict refuses that pod, "+node, func(t *testing.T) {
			for _, policy := range []corev1.SupplementalGroupsPolicy{"", mergePolicy} {
				err := create("user-alice", kepPod(t, c, node, node, policy))
				if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "supplementalGroupsPolicy must be Strict") {
					t.Errorf("policy %q: %v, want it forbidden", policy, err)
				}
			}
		})
		t.Run("GRP-19 GRP-2 under Strict the same image stays outside, "+node, func(t *testing.T) {
			if err := create("user-alice", kepPod(t, c, node, node, strictPolicy)); err != nil {
				t.Fatal(err)
			}
			if got := readPrivate(t, c, "user-alice", node); got.code == 0 || !strings.Contains(got.err, "permission denied") {
				t.Errorf("exit %d, %q, %s, want permission denied", got.code, got.out, got.err)
			}
			checkProcesses(t, c, "user-alice", node, asAsked)
		})
	}
}

// readPrivate reads the private file in the pod.
func readPrivate(t *testing.T, c *cluster, namespace, pod string) result {
	t.Helper()
	return kubectl(t, c.alice, "exec", "-n", namespace, pod, "--", testimage.Program, "read", "/mnt/hostpath/private-to-gid-50000/note")
}

// checkProcesses compares the groups of the pod's first process and of an exec'd one.
func checkProcesses(t *testing.T, c *cluster, namespace, pod string, want []int) {
	t.Helper()
	first := firstProcess(t, c, namespace, pod).Groups
	execd := reported(t, c.alice, "exec", "-n", namespace, pod, "--", testimage.Program).Groups
	if !slices.Equal(first, want) || !slices.Equal(execd, want) {
		t.Errorf("the first process is in %v, an exec'd one in %v, want %v", first, execd, want)
	}
}
