package e2e_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// TestGroupsRejection is what an operator sees when a pod asks for Strict where the
// runtime does not have it.
func TestGroupsRejection(t *testing.T) {
	t.Parallel()
	n := newGroupsNode(t)
	n.become(t, version{33, true}, false)
	merge := mustRun(t, n.cluster, kepPod(t, n.cluster, "merge", groupsNodeName, mergePolicy))
	rejected := mustRun(t, n.cluster, kepPod(t, n.cluster, "strict", groupsNodeName, strictPolicy))
	page := kubeletMetrics(t, n.cluster, groupsNodeName)
	t.Run("GRP-15 phase, reason and message", func(t *testing.T) { checkRejected(t, rejected) })
	t.Run("GRP-15 one event with the reason and the KEP's message", func(t *testing.T) {
		said := events(t, n.cluster, "strict", "SupplementalGroupsPolicyNotSupported")
		if len(said) != 1 || said[0] != "Error: SupplementalGroupsPolicy is not supported in this node." {
			t.Errorf("events say %q", said)
		}
	})
	t.Run("GRP-15 kubelet_admission_rejections_total", func(t *testing.T) {
		sample := `kubelet_admission_rejections_total{reason="SupplementalGroupsPolicyNotSupported"}`
		if got := metric(t, page, sample); got != 1 {
			t.Errorf("%s = %d, want 1", sample, got)
		}
	})
	t.Run("GRP-15 STK-9 kubelet_desired_pods and kubelet_running_pods differ by the rejected pod", func(t *testing.T) {
		if desired, running := metric(t, page, "kubelet_desired_pods"), metric(t, page, "kubelet_running_pods"); desired != 2 || running != 1 {
			t.Errorf("%d desired, %d running, want 2 and 1", desired, running)
		}
	})
	t.Run("GRP-13 GRP-15 the node does not claim the feature, and Merge runs on it", func(t *testing.T) {
		await(t, "the node to take its claim back", func() bool { return nodeFeature(t, n.cluster, groupsNodeName) == nil })
		checkGroups(t, n.cluster, merge, merged, false)
	})
}

// TestGroupsUpgrade is upgrade, downgrade, upgrade again, under one pod with Strict
// that runs all the while.
func TestGroupsUpgrade(t *testing.T) {
	t.Parallel()
	n := newGroupsNode(t)
	const name = "strict"
	exec := func(t *testing.T) []int {
		t.Helper()
		return reported(t, n.alice, "exec", name, "--", testimage.Program).Groups
	}
	n.become(t, version{33, true}, true)
	checkGroups(t, n.cluster, mustRun(t, n.cluster, kepPod(t, n.cluster, name, groupsNodeName, strictPolicy)), asAsked, true)
	for _, step := range []struct {
		name     string
		version  version
		supports bool
		recreate bool
		groups   []int // of the process, none when the pod is rejected
		reported bool
	}{
		{"kubelet downgraded, gate off: it runs on", version{31, false}, true, false, asAsked, false},
		{"and is recreated: the stored policy counts", version{31, false}, true, true, asAsked, false},
		{"kubelet upgraded again: the user is reported again", version{33, true}, true, false, asAsked, true},
		{"gate off in beta, recreated", version{34, false}, true, true, asAsked, false},
		{"runtime downgraded under beta: it runs on", version{33, true}, false, false, asAsked, false},
		{"runtime upgraded again", version{35, true}, true, false, asAsked, true},
		{"all downgraded to alpha: it runs on", version{31, true}, false, false, asAsked, false},
		{"and is recreated: it falls back in silence", version{31, true}, false, true, merged, false},
		{"runtime upgraded: what runs merged stays merged", version{31, true}, true, false, merged, true},
		{"and is recreated under Strict", version{31, true}, true, true, asAsked, true},
		{"kubelet upgraded over an old runtime: it runs on", version{33, true}, false, false, asAsked, false},
		{"and is rejected when it is recreated", version{33, true}, false, true, none, false},
	} {
		n.become(t, step.version, step.supports)
		t.Run("GRP-17 "+step.name, func(t *testing.T) {
			if step.recreate {
				recreate(t, n.cluster, groupsNodeName, name)
			}
			if step.groups == nil {
				await(t, "the pod to fail", func() bool { return current(t, n.cluster, name).Status.Phase == corev1.PodFailed })
				checkRejected(t, current(t, n.cluster, name))
				return
			}
			await(t, "the status to say so", func() bool {
				s := current(t, n.cluster, name).Status.ContainerStatuses[0]
				return s.Ready && (s.User != nil) == step.reported
			})
			if got := exec(t); !slices.Equal(got, step.groups) {
				t.Errorf("an exec'd process is in %v, want %v", got, step.groups)
			}
			checkGroups(t, n.cluster, current(t, n.cluster, name), step.groups, step.reported)
		})
	}
	t.Run("GRP-17 after the last upgrade a new pod with Strict runs", func(t *testing.T) {
		n.become(t, version{37, true}, true)
		checkGroups(t, n.cluster, mustRun(t, n.cluster, kepPod(t, n.cluster, "another", groupsNodeName, strictPolicy)), asAsked, true)
		await(t, "the node to report the feature", func() bool {
			f := nodeFeature(t, n.cluster, groupsNodeName)
			return f != nil && *f
		})
	})
}

// nodeFeature is node.status.features.supplementalGroupsPolicy.
func nodeFeature(t *testing.T, c *cluster, node string) *bool {
	t.Helper()
	n, err := c.Admin().CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Status.Features == nil {
		return nil
	}
	return n.Status.Features.SupplementalGroupsPolicy
}

// recreate ends the pod's container behind the kubelet's back, and waits until
// another runs or the pod is over.
func recreate(t *testing.T, c *cluster, node, pod string) {
	t.Helper()
	cri := runtimetest.Dial(t, c.RuntimeSocket(node))
	list, err := cri.ListContainers(t.Context(), &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{
		LabelSelector: map[string]string{pods.LabelPodName: pod},
		State:         &runtimeapi.ContainerStateValue{State: runtimeapi.ContainerState_CONTAINER_RUNNING},
	}})
	if err != nil || len(list.GetContainers()) != 1 {
		t.Fatalf("%d containers run, %v, want one", len(list.GetContainers()), err)
	}
	before := list.GetContainers()[0].GetId()
	if _, err := cri.StopContainer(t.Context(), &runtimeapi.StopContainerRequest{ContainerId: before}); err != nil {
		t.Fatal(err)
	}
	await(t, "another container", func() bool {
		p := current(t, c, pod)
		return p.Status.Phase == corev1.PodFailed || p.Status.ContainerStatuses[0].Ready && p.Status.ContainerStatuses[0].ContainerID != "cri://"+before
	})
}
