package e2e_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

const (
	strictPolicy = corev1.SupplementalGroupsPolicyStrict
	mergePolicy  = corev1.SupplementalGroupsPolicyMerge
)

// unaware is a kubelet before 1.31, which does not know the field. It is played by
// 1.31 with the gate off, whose requests lose the policy on the wire.
const unaware = int(admission.MinorAlpha) - 1

// version is a kubelet's version and its gate.
type version struct {
	minor int
	gate  bool
}

func (v version) String() string {
	if v.minor == unaware {
		return "kubelet before 1.31"
	}
	return fmt.Sprintf("kubelet 1.%d gate %v", v.minor, v.gate)
}

// groupsNode is a cluster of one node, whose kubelet's version and runtime's
// features change as a test wants.
type groupsNode struct {
	*cluster
	wire *groupsWire
}

const groupsNodeName = "node"

func newGroupsNode(t *testing.T) groupsNode {
	t.Helper()
	wire := newGroupsWire(t)
	c := ownWithoutPods(t, stack.Options{Nodes: []stack.Node{{Name: groupsNodeName, Configure: func(c *kubelet.Config) {
		c.RuntimeEndpoint = wire.before(c.RuntimeEndpoint)
	}}}})
	return groupsNode{c, wire}
}

// become starts the kubelet again in that version, over a runtime with or without
// the feature.
func (n groupsNode) become(t *testing.T, v version, supports bool) {
	t.Helper()
	n.wire.oldRuntime.Store(!supports)
	n.wire.oldKubelet.Store(v.minor == unaware)
	err := n.RestartKubelet(t.Context(), groupsNodeName, func(c *kubelet.Config) {
		c.EmulatedMinor = max(v.minor, int(admission.MinorAlpha))
		c.FeatureGates = map[string]bool{admission.GateName: v.gate}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGroupsMatrix is the matrix of KEP-3619's version-skew section, every row as
// running components.
func TestGroupsMatrix(t *testing.T) {
	t.Parallel()
	n := newGroupsNode(t)
	alphaOn, alphaOff := version{31, true}, version{31, false}
	betaOn, betaOff := version{33, true}, version{33, false}
	for _, row := range []struct {
		version  version
		supports bool
		strict   []int // the groups under Strict, none for a rejected pod; Merge and unset always merge
		reported bool
	}{
		{version{unaware, false}, true, merged, false},
		{version{unaware, false}, false, merged, false},
		{alphaOn, true, asAsked, true},
		{alphaOn, false, merged, false},
		{alphaOff, true, asAsked, false},
		{alphaOff, false, merged, false},
		{version{32, true}, false, merged, false},
		{betaOn, true, asAsked, true},
		{betaOn, false, none, false},
		{betaOff, true, asAsked, false},
		{betaOff, false, none, false},
		{version{35, true}, true, asAsked, true},
		{version{35, true}, false, none, false},
		{version{37, true}, false, none, false},
	} {
		n.become(t, row.version, row.supports)
		name := fmt.Sprintf("GRP-14 %v, runtime supports %v", row.version, row.supports)
		policies := map[string]corev1.SupplementalGroupsPolicy{"strict": strictPolicy, "merge": mergePolicy, "unset": ""}
		for pod, policy := range policies {
			p := kepPod(t, n.cluster, pod, groupsNodeName, policy)
			if _, err := n.Admin().CoreV1().Pods(metav1.NamespaceDefault).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for pod := range policies {
			want := merged
			if pod == "strict" {
				want = row.strict
			}
			t.Run(name+", policy "+pod, func(t *testing.T) { n.checkAdmitted(t, pod, want, row.reported) })
		}
		removeAll(t, n.cluster, "strict", "merge", "unset")
	}
	t.Run("GRP-16 from 1.35 the gate set false is a start-up error", func(t *testing.T) {
		for minor := int(admission.MinorGA); minor <= int(admission.MinorNewest); minor++ {
			err := n.RestartKubelet(t.Context(), groupsNodeName, func(c *kubelet.Config) {
				c.EmulatedMinor = minor
				c.FeatureGates = map[string]bool{admission.GateName: false}
			})
			if err == nil {
				t.Errorf("kubelet 1.%d started", minor)
			}
		}
	})
}

// checkAdmitted waits for the pod and checks that it runs in the groups, or that it
// was rejected where there are none.
func (n groupsNode) checkAdmitted(t *testing.T, name string, want []int, reported bool) {
	t.Helper()
	p, err := n.AwaitPod(t.Context(), metav1.NamespaceDefault, name)
	if err != nil {
		t.Fatal(err)
	}
	if want == nil {
		checkRejected(t, p)
		return
	}
	if p.Status.Phase != corev1.PodRunning {
		t.Fatalf("phase %s: %s: %s", p.Status.Phase, p.Status.Reason, p.Status.Message)
	}
	checkGroups(t, n.cluster, p, want, reported)
}

func checkRejected(t *testing.T, p *corev1.Pod) {
	t.Helper()
	if p.Status.Phase != corev1.PodFailed || p.Status.Reason != admission.Reason || p.Status.Message != "Error: SupplementalGroupsPolicy is not supported in this node." {
		t.Errorf("phase %s, reason %q, message %q, want it rejected", p.Status.Phase, p.Status.Reason, p.Status.Message)
	}
	if len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Running != nil {
		t.Error("its container is reported to run")
	}
}
