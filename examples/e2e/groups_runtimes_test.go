package e2e_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
)

// bothRuntimes is a cluster for its runtimes and its registry: a pod over plain CRI
// on each.
func bothRuntimes(t *testing.T) (*cluster, map[string]*runtimetest.Pod) {
	t.Helper()
	c := ownWithoutPods(t, stack.Options{Nodes: []stack.Node{{Name: ours}, {Name: containerd, Runtime: stack.Containerd}}})
	pods := map[string]*runtimetest.Pod{}
	for _, name := range []string{ours, containerd} {
		pods[name] = runtimetest.Dial(t, c.RuntimeSocket(name)).RunPod(t)
	}
	return c, pods
}

// identity is who a process is; the zero value stands for a container that does not
// come to be.
type identity struct {
	runs     bool
	uid, gid int64
	groups   string // ascending
}

func (i identity) String() string {
	if !i.runs {
		return "refused"
	}
	return fmt.Sprintf("%d:%d [%s]", i.uid, i.gid, i.groups)
}

func identityOf[N int | int64 | uint32](uid, gid int64, groups []N) identity {
	groups = slices.Clone(groups)
	slices.Sort(groups)
	return identity{true, uid, gid, strings.Trim(fmt.Sprint(groups), "[]")}
}

func statusIdentity(s *runtimeapi.ContainerStatus) identity {
	u := s.GetUser().GetLinux()
	return identityOf(u.GetUid(), u.GetGid(), u.GetSupplementalGroups())
}

func reportIdentity(r report.Report) identity {
	return identityOf(int64(r.UID), int64(r.GID), r.Groups)
}

// logged reads the report in a container's log: a line with time, stream and flag first.
func logged(c *runtimetest.Container) (report.Report, error) {
	text, err := os.ReadFile(c.LogFile())
	if err != nil {
		return report.Report{}, err
	}
	fields := strings.SplitN(string(text), " ", 4)
	return report.Parse([]byte(fields[len(fields)-1]))
}

// secured puts a security context on a container, with the pod's namespaces.
func secured(sc *runtimeapi.LinuxContainerSecurityContext) func(*runtimeapi.ContainerConfig) {
	return func(c *runtimeapi.ContainerConfig) {
		sc.NamespaceOptions = c.Linux.SecurityContext.NamespaceOptions
		c.Linux.SecurityContext = sc
	}
}

func criID(n int64) *runtimeapi.Int64Value { return &runtimeapi.Int64Value{Value: n} }

// TestGroupsKnown is what real runtimes were seen to do, on ours and on containerd.
func TestGroupsKnown(t *testing.T) {
	t.Parallel()
	type security = runtimeapi.LinuxContainerSecurityContext
	const underStrict = runtimeapi.SupplementalGroupsPolicy_Strict
	c, pods := bothRuntimes(t)
	noUser := kepImage
	noUser.Config.User = ""
	byUser := map[string]string{}
	for user, spec := range map[string]testimage.Spec{"": noUser, "alice": kepImage} {
		ref, err := c.Image("known"+user+":v1", spec)
		if err != nil {
			t.Fatal(err)
		}
		byUser[user] = ref
		for _, p := range pods {
			p.Pull(t, ref)
		}
	}
	asked := []int64{60000}
	for _, row := range []struct {
		name, image string
		sc          *security
		want        string
	}{
		{"GRP-9 the KEP's example, Merge", "alice", &security{RunAsUser: criID(1000), RunAsGroup: criID(1000), SupplementalGroups: asked}, "1000:1000 [1000 50000 60000]"},
		{"GRP-9 the KEP's example, Strict", "alice", &security{RunAsUser: criID(1000), RunAsGroup: criID(1000), SupplementalGroups: asked, SupplementalGroupsPolicy: underStrict}, "1000:1000 [1000 60000]"},
		{"GRP-3 user without group, Merge", "", &security{RunAsUser: criID(1000), SupplementalGroups: asked}, "1000:1000 [1000 50000 60000]"},
		{"GRP-3 user without group, Strict", "", &security{RunAsUser: criID(1000), SupplementalGroups: asked, SupplementalGroupsPolicy: underStrict}, "1000:1000 [1000 60000]"},
		{"GRP-3 image user, Merge", "alice", &security{SupplementalGroups: asked}, "1000:1000 [1000 50000 60000]"},
		{"GRP-3 image user, Strict", "alice", &security{SupplementalGroups: asked, SupplementalGroupsPolicy: underStrict}, "1000:1000 [1000 60000]"},
		{"GRP-3 username, Merge", "", &security{RunAsUsername: "alice", SupplementalGroups: asked}, "1000:1000 [1000 50000 60000]"},
		{"GRP-3 username, Strict", "", &security{RunAsUsername: "alice", SupplementalGroups: asked, SupplementalGroupsPolicy: underStrict}, "1000:1000 [1000 60000]"},
		{"GRP-4 a username that is a number", "", &security{RunAsUsername: "1000", SupplementalGroups: asked}, "1000:1000 [1000 50000 60000]"},
		{"GRP-5 user with another group, Merge", "", &security{RunAsUser: criID(1000), RunAsGroup: criID(1001), SupplementalGroups: asked}, "1000:1001 [1001 50000 60000]"},
		{"GRP-5 username with another group, Strict", "", &security{RunAsUsername: "alice", RunAsGroup: criID(1001), SupplementalGroups: asked, SupplementalGroupsPolicy: underStrict}, "1000:1001 [1001 60000]"},
		{"GRP-4 a user that is not listed", "", &security{RunAsUser: criID(4242), SupplementalGroups: asked}, "4242:0 [0 60000]"},
		{"GRP-5 a user that is not listed, with a group, Strict", "", &security{RunAsUser: criID(4242), RunAsGroup: criID(4343), SupplementalGroups: asked, SupplementalGroupsPolicy: underStrict}, "4242:4343 [4343 60000]"},
		{"GRP-3 root", "alice", &security{RunAsUser: criID(0), SupplementalGroups: asked}, "0:0 [0 60000]"},
		{"GRP-3 user and username: the name wins", "", &security{RunAsUser: criID(1001), RunAsUsername: "alice"}, "1000:1000 [1000 50000]"},
		{"GRP-7 a name that nobody has", "", &security{RunAsUsername: "nobody-knows"}, "refused"},
		{"GRP-3 a group without a user", "", &security{RunAsGroup: criID(1000)}, "refused"},
	} {
		for _, runtime := range []string{ours, containerd} {
			t.Run("GRP-11 "+row.name+", "+runtime, func(t *testing.T) {
				checkKnown(t, pods[runtime], byUser[row.image], row.sc, row.want)
			})
		}
	}
}

// checkKnown runs a container and asks it, its status and two exec'd processes.
func checkKnown(t *testing.T, p *runtimetest.Pod, image string, sc *runtimeapi.LinuxContainerSecurityContext, want string) {
	c, err := p.TryCreate(t, image, []string{testimage.Program, "sleep"}, secured(sc))
	if err != nil || want == "refused" {
		if (err != nil) != (want == "refused") {
			t.Errorf("CreateContainer: %v, want %s", err, want)
		}
		return
	}
	if err := c.Start(t); err != nil {
		t.Fatal(err)
	}
	defer c.Stop(t, 0)
	var first report.Report
	runtimetest.Eventually(t, "the first process reports", func() bool {
		first, err = logged(c)
		return err == nil
	})
	session := c.MustExec(t, &runtimetest.Session{Cmd: []string{testimage.Program}})
	execd, err := report.Parse(session.Out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.ExecSync(runtimetest.Context(t), &runtimeapi.ExecSyncRequest{ContainerId: c.ID, Cmd: []string{testimage.Program}})
	if err != nil {
		t.Fatal(err)
	}
	synced, err := report.Parse(resp.GetStdout())
	if err != nil {
		t.Fatal(err)
	}
	for who, got := range map[string]identity{
		"the first process": reportIdentity(first), "the status": statusIdentity(c.Status(t)),
		"an exec'd process": reportIdentity(execd), "a process of ExecSync": reportIdentity(synced),
	} {
		if got.String() != want {
			t.Errorf("%s is %v, want %s", who, got, want)
		}
	}
}

// runOnce runs the image's reporter to its end and removes the container. Its own
// report and the status are both returned.
func runOnce(t *testing.T, ctx context.Context, p *runtimetest.Pod, image string, sc *runtimeapi.LinuxContainerSecurityContext) (own, status identity, err error) {
	c, err := p.TryCreate(t, image, []string{testimage.Program}, secured(sc))
	if err != nil {
		return identity{}, identity{}, nil
	}
	defer func() {
		_, removeErr := c.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: c.ID})
		if err == nil {
			err = removeErr
		}
	}()
	// A group that the kernel does not know is refused only now.
	if _, err := c.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: c.ID}); err != nil {
		return identity{}, identity{}, nil
	}
	for {
		resp, err := c.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: c.ID})
		if err != nil {
			return own, status, err
		}
		if resp.GetStatus().GetState() == runtimeapi.ContainerState_CONTAINER_EXITED {
			r, err := logged(c)
			return reportIdentity(r), statusIdentity(resp.GetStatus()), err
		}
		select {
		case <-ctx.Done():
			return own, status, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
