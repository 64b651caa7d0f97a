package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// TestGroupsAPIServer turns the API server's gate off and on again, under a kubelet
// whose gate stays on.
func TestGroupsAPIServer(t *testing.T) {
	t.Parallel()
	const lastWithGate = int(admission.MinorGA) - 1
	c := ownWithoutPods(t, stack.Options{
		APIServerFlags: apiServerGate(lastWithGate, true),
		Nodes:          []stack.Node{{Name: ours, Configure: func(c *kubelet.Config) { c.EmulatedMinor = lastWithGate }}},
	})
	// The store is the server's own, so nothing is left of what the kubelet watched: it starts again too.
	restart := func(t *testing.T, flags ...string) {
		t.Helper()
		if err := c.RestartAPIServer(t.Context(), flags...); err != nil {
			t.Fatal(err)
		}
		if err := c.RestartKubelet(t.Context(), ours, func(*kubelet.Config) {}); err != nil {
			t.Fatal(err)
		}
		if err := c.AwaitNode(t.Context(), ours); err != nil {
			t.Fatal(err)
		}
	}
	strictRuns := func(t *testing.T, name string) {
		t.Helper()
		p := mustRun(t, c, kepPod(t, c, name, ours, strictPolicy))
		checkGroups(t, c, p, asAsked, true)
		removeAll(t, c, name)
	}
	strictIsDropped := func(t *testing.T, name string) {
		t.Helper()
		p := mustRun(t, c, kepPod(t, c, name, ours, strictPolicy))
		if got := p.Spec.SecurityContext.SupplementalGroupsPolicy; got != nil {
			t.Errorf("the stored pod has %s, want the field dropped", *got)
		}
		checkGroups(t, c, p, merged, false)
		if f := nodeFeature(t, c, ours); f != nil {
			t.Errorf("node.status.features.supplementalGroupsPolicy = %v, want it dropped", *f)
		}
		removeAll(t, c, name)
	}
	t.Run("GRP-16 with the gate on", func(t *testing.T) { strictRuns(t, "on") })
	t.Run("GRP-10 kubectl is told what is wrong", func(t *testing.T) {
		p := kepPod(t, c, "wrong", ours, "strict")
		p.APIVersion, p.Kind = "v1", "Pod"
		text, err := yaml.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "pod.yaml")
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		got := kubectl(t, c.AdminFile(), "create", "-f", file)
		if got.code == 0 || !strings.Contains(got.err, `spec.securityContext.supplementalGroupsPolicy: Unsupported value: "strict": supported values: "Merge", "Strict"`) {
			t.Errorf("exit %d: %s", got.code, got.err)
		}
	})
	restart(t, apiServerGate(lastWithGate, false)...)
	t.Run("GRP-16 GRP-17 with the gate off: dropped from new pods, from nodes and from the status", func(t *testing.T) { strictIsDropped(t, "off") })
	restart(t, fmt.Sprintf("--emulated-minor=%d", admission.MinorAlpha))
	t.Run("GRP-16 STK-8 in alpha the gate is off by default", func(t *testing.T) { strictIsDropped(t, "alpha") })
	restart(t)
	t.Run("GRP-16 GRP-17 on again", func(t *testing.T) { strictRuns(t, "again") })
	t.Run("GRP-16 STK-8 from 1.35 the gate set false is a start-up error", func(t *testing.T) {
		for minor := int(admission.MinorGA); minor <= int(admission.MinorNewest); minor++ {
			err := c.RestartAPIServer(t.Context(), apiServerGate(minor, false)...)
			if err == nil || !strings.Contains(err.Error(), admission.GateName) {
				t.Errorf("API server 1.%d: %v, want an error that names the gate", minor, err)
			}
		}
		restart(t)
		if _, err := c.Admin().CoreV1().Nodes().Get(t.Context(), ours, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func apiServerGate(minor int, on bool) []string {
	return []string{fmt.Sprintf("--emulated-minor=%d", minor), fmt.Sprintf("--feature-gates=%s=%v", admission.GateName, on)}
}
