package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
	supgroupskubelet "github.com/lanyard-dev/lanyard/supgroups/kubelet"
)

// The image whose files put its users into groups.
const (
	groupsImage = "localhost/lanyard/groups:1"
	groupsUser  = "alice:users"
	passwdFile  = "root:x:0:0::/:/\nalice:x:1000:1000::/:/\nbob:x:1001:2001::/:/\n"
	groupFile   = "root:x:0:\nusers:x:100:\ngroup-in-image:x:50000:alice,bob\nother:x:50001:bob\n"
)

// groupsContainers are the ways to say who a container runs as.
func groupsContainers() []corev1.Container {
	in := func(name string, sc *corev1.SecurityContext) corev1.Container {
		return corev1.Container{
			Name: name, Image: groupsImage, ImagePullPolicy: corev1.PullNever, Command: []string{testimage.Program, "pause"}, SecurityContext: sc,
		}
	}
	return []corev1.Container{
		in("image-user", nil),
		in("user", &corev1.SecurityContext{RunAsUser: pointer(int64(1001))}),
		in("user-and-group", &corev1.SecurityContext{RunAsUser: pointer(int64(1000)), RunAsGroup: pointer(int64(3000))}),
		in("unknown-user", &corev1.SecurityContext{RunAsUser: pointer(int64(4711)), RunAsGroup: pointer(int64(50000))}),
	}
}

func pointer[T any](v T) *T { return &v }

// member is a process's user and groups.
type member struct {
	UID, GID int64
	Groups   []int64
}

func (m member) String() string { return fmt.Sprintf("%d:%d %v", m.UID, m.GID, m.Groups) }

func TestSupGroups(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	node, kubelet := c.Node(""), newComponent(t)
	importGroups(t, node)
	var feature *bool
	t.Run("STK-13 GRP-13 the real node declares the feature", func(t *testing.T) {
		if err := kubernetes.Await(t.Context(), "the feature", func(context.Context) (bool, error) {
			feature = nodeFeature(t, c, node.Name)
			return feature != nil && *feature, nil
		}); err != nil {
			t.Fatal(err)
		}
	})
	policies := []*corev1.SupplementalGroupsPolicy{
		pointer(corev1.SupplementalGroupsPolicyMerge), pointer(corev1.SupplementalGroupsPolicyStrict), nil,
	}
	pods := runAll(t, c, node.Name, policies, groupsContainers())
	for i, policy := range policies {
		pod, name := pods[i], policyName(policy)
		decision := admission.Admit(kubelet, feature, policy)
		for i := range pod.Spec.Containers {
			container := &pod.Spec.Containers[i]
			t.Run(fmt.Sprintf("STK-13 GRP-1 GRP-2 GRP-3 GRP-5 GRP-6 GRP-11 GRP-14 policy %s, container %s", name, container.Name), func(t *testing.T) {
				want := predicted(t, &pod.Spec, container)
				if got := published(pod, container.Name); !decision.UserReported || got.String() != want.String() {
					t.Errorf("the pod's status has %v, predicted %v", got, want)
				}
				if got := firstProcess(t, c, pod, container.Name); got.String() != want.String() {
					t.Errorf("/proc/1/status has %v, predicted %v", got, want)
				}
				if got := execed(t, c, pod, container.Name); got.String() != want.String() {
					t.Errorf("an exec has %v, predicted %v", got, want)
				}
				if asked := slices.Contains(want.Groups, 50001); asked != (container.Name == "user" && decision.Effective == corev1.SupplementalGroupsPolicyMerge) {
					t.Errorf("predicted %v under %s", want, decision.Effective)
				}
			})
		}
	}
}

func policyName(policy *corev1.SupplementalGroupsPolicy) string {
	if policy == nil {
		return "unset"
	}
	return string(*policy)
}

// runAll runs a pod under each policy at the same time.
func runAll(t *testing.T, c *kubernetes.Cluster, node string, policies []*corev1.SupplementalGroupsPolicy, containers []corev1.Container) []*corev1.Pod {
	t.Helper()
	pods, errs := make([]*corev1.Pod, len(policies)), make([]error, len(policies))
	each := func(do func(int)) {
		var all sync.WaitGroup
		for i := range policies {
			all.Go(func() { do(i) })
		}
		all.Wait()
	}
	each(func(i int) { pods[i], errs[i] = c.Run(t.Context(), groupsPod(node, policies[i], containers)) })
	t.Cleanup(func() {
		each(func(i int) {
			if pods[i] != nil {
				errs[i] = c.Remove(context.Background(), pods[i])
			}
		})
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return pods
}

func newComponent(t *testing.T) admission.Component {
	t.Helper()
	kubelet, err := admission.NewComponent(37, admission.GateDefault)
	if err != nil {
		t.Fatal(err)
	}
	return kubelet
}

func importGroups(t *testing.T, node *kubernetes.Worker) {
	t.Helper()
	reporter, err := parts.Find("lanyard-reporter")
	if err != nil {
		t.Fatal(err)
	}
	image, err := testimage.Build(testimage.Spec{
		Reporter: reporter, Files: map[string]string{"/etc/passwd": passwdFile, "/etc/group": groupFile}, Config: v1.Config{User: groupsUser},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Import(t.Context(), groupsImage, image); err != nil {
		t.Fatal(err)
	}
}

func nodeFeature(t *testing.T, c *kubernetes.Cluster, name string) (feature *bool) {
	t.Helper()
	node, err := c.Client().CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if node.Status.Features != nil {
		feature = node.Status.Features.SupplementalGroupsPolicy
	}
	return feature
}

func groupsPod(node string, policy *corev1.SupplementalGroupsPolicy, containers []corev1.Container) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{NodeName: node, Containers: containers, SecurityContext: &corev1.PodSecurityContext{
		FSGroup: pointer(int64(4000)), SupplementalGroups: []int64{60000, 4000}, SupplementalGroupsPolicy: policy,
	}}}
}

// predicted is what supgroups says of a container of the image.
func predicted(t *testing.T, spec *corev1.PodSpec, container *corev1.Container) (m member) {
	t.Helper()
	request, err := supgroupskubelet.Request(spec, container, groupsUser)
	if err != nil {
		t.Fatal(err)
	}
	who, err := supgroups.Resolve(request, strings.NewReader(passwdFile), strings.NewReader(groupFile))
	if err != nil {
		t.Fatal(err)
	}
	m = member{UID: int64(who.UID), GID: int64(who.GID)}
	for _, id := range who.GIDs() {
		m.Groups = append(m.Groups, int64(id))
	}
	return m
}

// published is what the kubelet wrote into the pod's status.
func published(pod *corev1.Pod, container string) member {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == container && s.User != nil && s.User.Linux != nil {
			return member{s.User.Linux.UID, s.User.Linux.GID, s.User.Linux.SupplementalGroups}
		}
	}
	return member{}
}

// firstProcess is what the kernel says of the container's first process.
func firstProcess(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod, container string) (m member) {
	t.Helper()
	got, err := c.Admin().Exec(t.Context(), kubernetes.Session{
		Pod: pod.Name, Container: container, Command: []string{testimage.Program, "read", "/proc/1/status"},
	})
	if err != nil || got.Code != 0 {
		t.Fatalf("Exec(…) = %+v, %v", got, err)
	}
	for line := range strings.Lines(got.Stdout) {
		name, values, _ := strings.Cut(line, ":")
		var ids []int64
		if name != "Uid" && name != "Gid" && name != "Groups" {
			continue
		}
		for _, text := range strings.Fields(values) {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		switch name {
		case "Uid":
			m.UID = ids[1] // the effective one
		case "Gid":
			m.GID = ids[1]
		case "Groups":
			m.Groups = ids
		}
	}
	return m
}

// execed is what a process of an exec says of itself.
func execed(t *testing.T, c *kubernetes.Cluster, pod *corev1.Pod, container string) member {
	t.Helper()
	got, err := c.Admin().Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Container: container, Command: []string{testimage.Program}})
	if err != nil {
		t.Fatal(err)
	}
	r := reported(t, got.Stdout)
	m := member{UID: int64(r.UID), GID: int64(r.GID)}
	for _, id := range r.Groups {
		m.Groups = append(m.Groups, int64(id))
	}
	return m
}
