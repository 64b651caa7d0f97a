package e2e_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// TestGroupsPolicy is the end-to-end list of KEP-3619, by its names, on
// our runtime and on containerd.
func TestGroupsPolicy(t *testing.T) {
	c := common(t)
	for _, row := range []struct {
		name   string
		policy corev1.SupplementalGroupsPolicy
		want   []int
	}{
		{"GRP-2 when creating a Pod with SupplementalGroupsPolicy=Strict", strictPolicy, asAsked},
		{"GRP-1 when creating a Pod with SupplementalGroupsPolicy=Merge", mergePolicy, merged},
		{"GRP-1 when creating a Pod without SupplementalGroupsPolicy", "", merged},
	} {
		for _, node := range []string{ours, containerd} {
			t.Run("GRP-9 GRP-11 GRP-13 STK-6 STK-7 "+row.name+", "+node, func(t *testing.T) {
				if f := nodeFeature(t, c, node); f == nil || !*f {
					t.Fatal("the node does not report the feature")
				}
				name := "groups-" + node
				p := mustRun(t, c, kepPod(t, c, name, node, row.policy))
				defer removeAll(t, c, name)
				checkGroups(t, c, p, row.want, true)
				if got := reported(t, c.alice, "exec", name, "--", testimage.Program); got.UID != 1000 || got.GID != 1000 || !slices.Equal(got.Groups, row.want) {
					t.Errorf("an exec'd process is %d:%d in %v, want 1000:1000 in %v", got.UID, got.GID, got.Groups, row.want)
				}
			})
		}
	}
}
