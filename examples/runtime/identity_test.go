package runtime_test

import (
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

func id(n int64) *runtimeapi.Int64Value { return &runtimeapi.Int64Value{Value: n} }

const strict = runtimeapi.SupplementalGroupsPolicy_Strict

// aliceFiles make alice a member of a group that nobody asked for.
var aliceFiles = map[string]string{
	"/etc/passwd": "root:x:0:0::/:\nalice:x:1000:1000::/:\n",
	"/etc/group":  "root:x:0:\nalice:x:1000:\nsecret:x:50000:alice\n",
}

// TestIdentity runs against both runtimes, with equal expectations: as whom the first process runs, what the status
// says, and as whom exec sessions run.
func TestIdentity(t *testing.T) {
	both(t, func(t *testing.T, n node) {
		refs := map[string]string{}
		for _, user := range []string{"", "alice"} {
			refs[user] = push(t, testimage.Spec{Files: aliceFiles, Config: v1.Config{User: user}})
			n.Pull(t, refs[user])
		}
		pod := n.RunPod(t)
		for _, tt := range []struct {
			name      string
			imageUser string
			sc        *runtimeapi.LinuxContainerSecurityContext
			uid, gid  int64
			groups    []int64
		}{
			{"GRP-1 GRP-9 Merge", "", &runtimeapi.LinuxContainerSecurityContext{RunAsUser: id(1000), RunAsGroup: id(1000)}, 1000, 1000, []int64{1000, 50000, 60000}},
			{"GRP-2 GRP-9 Strict", "", &runtimeapi.LinuxContainerSecurityContext{RunAsUser: id(1000), RunAsGroup: id(1000), SupplementalGroupsPolicy: strict}, 1000, 1000, []int64{1000, 60000}},
			{"GRP-3 image user, Merge", "alice", &runtimeapi.LinuxContainerSecurityContext{}, 1000, 1000, []int64{1000, 50000, 60000}},
			{"GRP-3 image user, Strict", "alice", &runtimeapi.LinuxContainerSecurityContext{SupplementalGroupsPolicy: strict}, 1000, 1000, []int64{1000, 60000}},
			{"GRP-5 another primary group stays among the groups", "", &runtimeapi.LinuxContainerSecurityContext{RunAsUsername: "alice", RunAsGroup: id(1001), SupplementalGroupsPolicy: strict}, 1000, 1001, []int64{1001, 60000}},
			{"GRP-3 the runtime's default is root", "", &runtimeapi.LinuxContainerSecurityContext{}, 0, 0, []int64{0, 60000}},
			{"GRP-4 a user that is not listed", "", &runtimeapi.LinuxContainerSecurityContext{RunAsUser: id(4242)}, 4242, 0, []int64{0, 60000}},
		} {
			t.Run("GRP-11 STK-2 "+tt.name, func(t *testing.T) {
				c := pod.Start(t, refs[tt.imageUser], cmd("sleep"), func(c *runtimeapi.ContainerConfig) {
					tt.sc.NamespaceOptions = c.Linux.SecurityContext.NamespaceOptions
					tt.sc.SupplementalGroups = []int64{60000}
					c.Linux.SecurityContext = tt.sc
				})
				if got := c.Status(t).GetUser().GetLinux(); got.GetUid() != tt.uid || got.GetGid() != tt.gid || !slices.Equal(got.GetSupplementalGroups(), tt.groups) {
					t.Errorf("status.user = %v, want %d, %d, %v", got, tt.uid, tt.gid, tt.groups)
				}
				r := reported(t, c, &runtimetest.Session{Cmd: cmd()})
				groups := make([]int64, len(r.Groups))
				for i, g := range r.Groups {
					groups[i] = int64(g)
				}
				if int64(r.UID) != tt.uid || int64(r.GID) != tt.gid || !slices.Equal(groups, tt.groups) {
					t.Errorf("exec'd process has %d, %d, %v, want %d, %d, %v", r.UID, r.GID, groups, tt.uid, tt.gid, tt.groups)
				}
			})
		}
		for name, sc := range map[string]*runtimeapi.LinuxContainerSecurityContext{
			"GRP-3 a group without a user": {RunAsGroup: id(1000)},
			"GRP-7 a name that nobody has": {RunAsUsername: "nobody-knows"},
		} {
			t.Run("STK-2 refused: "+name, func(t *testing.T) {
				if _, err := pod.TryCreate(t, refs[""], cmd("sleep"), func(c *runtimeapi.ContainerConfig) { c.Linux.SecurityContext = sc }); err == nil {
					t.Error("the container was created")
				}
			})
		}
		t.Run("GRP-13 the feature is reported", func(t *testing.T) {
			resp, err := n.Status(runtimetest.Context(t), &runtimeapi.StatusRequest{})
			if err != nil || !resp.GetFeatures().GetSupplementalGroupsPolicy() {
				t.Errorf("features = %v, %v", resp.GetFeatures(), err)
			}
		})
	})
	t.Run("GRP-8 GRP-12 IDs out of range and policies that nobody knows are refused", func(t *testing.T) {
		n := lanyard(t)
		ref := push(t, testimage.Spec{Files: aliceFiles})
		n.Pull(t, ref)
		pod := n.RunPod(t)
		for _, sc := range []*runtimeapi.LinuxContainerSecurityContext{
			{RunAsUser: id(1 << 32)}, {RunAsUser: id(-1)}, {RunAsUser: id(1), SupplementalGroups: []int64{1 << 32}}, {SupplementalGroupsPolicy: 7},
		} {
			if _, err := pod.TryCreate(t, ref, cmd("sleep"), func(c *runtimeapi.ContainerConfig) { c.Linux.SecurityContext = sc }); err == nil {
				t.Errorf("%v was accepted", sc)
			}
		}
	})
}
