package runtime_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// TestNamespaces has what pods share and what they have for themselves.
func TestNamespaces(t *testing.T) {
	n := lanyard(t)
	ref := push(t, testimage.Spec{})
	n.Pull(t, ref)
	read := func(t *testing.T, c *runtimetest.Container, path string) string {
		t.Helper()
		return c.MustExec(t, &runtimetest.Session{Cmd: cmd("read", path)}).Out.String()
	}
	t.Run("STK-2 a pod's own network is a loopback that is up, under the pod's name", func(t *testing.T) {
		c := n.RunPod(t, ownNetwork).Start(t, ref, cmd("sleep"))
		if got := strings.Count(read(t, c, "/proc/net/dev"), ":"); got != 1 {
			t.Errorf("%d interfaces, want one", got)
		}
		// 127.0.0.1 in the table of local routes: the interface is up.
		if got := read(t, c, "/proc/net/fib_trie"); !strings.Contains(got, "127.0.0.1") {
			t.Errorf("routes = %q", got)
		}
		if r := reported(t, c, &runtimetest.Session{Cmd: cmd()}); r.Host != "a-pod" {
			t.Errorf("host name = %q", r.Host)
		}
		if got := read(t, c, "/etc/hostname"); got != "a-pod\n" {
			t.Errorf("/etc/hostname = %q", got)
		}
	})
	t.Run("STK-2 containers of a pod share network and IPC, not mounts and PIDs", func(t *testing.T) {
		p := n.RunPod(t, ownNetwork)
		a, b := p.Start(t, ref, cmd("sleep")), p.Start(t, ref, cmd("sleep"))
		for kind, same := range map[string]bool{"net": true, "ipc": true, "uts": true, "mnt": false, "pid": false} {
			if got := namespaceOf(t, a, kind) == namespaceOf(t, b, kind); got != same {
				t.Errorf("same %s namespace: %v, want %v", kind, got, same)
			}
		}
	})
	t.Run("STK-2 a pod can share its PIDs, and stopping it ends them all", func(t *testing.T) {
		p := n.RunPod(t, func(c *runtimeapi.PodSandboxConfig) {
			c.Linux.SecurityContext.NamespaceOptions.Pid = runtimeapi.NamespaceMode_POD
		})
		a, b := p.Start(t, ref, cmd("sleep")), p.Start(t, ref, cmd("sleep"))
		if namespaceOf(t, a, "pid") != namespaceOf(t, b, "pid") {
			t.Error("the PID namespaces differ")
		}
		if r := reported(t, a, &runtimetest.Session{Cmd: cmd()}); r.Pid < 3 {
			t.Errorf("PID = %d, want one after the pod's init and two containers", r.Pid)
		}
		if _, err := p.StopPodSandbox(runtimetest.Context(t), &runtimeapi.StopPodSandboxRequest{PodSandboxId: p.ID}); err != nil {
			t.Fatal(err)
		}
		if got := b.Ended(t); got.GetExitCode() != 137 {
			t.Errorf("status = %v", got)
		}
	})
	t.Run("STK-2 a container can have the PIDs of another", func(t *testing.T) {
		p := n.RunPod(t)
		a := p.Start(t, ref, cmd("sleep"))
		b := p.Start(t, ref, cmd("sleep"), func(c *runtimeapi.ContainerConfig) {
			c.Linux.SecurityContext.NamespaceOptions = &runtimeapi.NamespaceOption{
				Network: runtimeapi.NamespaceMode_NODE, Pid: runtimeapi.NamespaceMode_TARGET, TargetId: a.ID,
			}
		})
		if namespaceOf(t, a, "pid") != namespaceOf(t, b, "pid") {
			t.Error("the PID namespaces differ")
		}
	})
	t.Run("STK-2 with the host's PIDs, what outlives the first process is killed", func(t *testing.T) {
		c := n.RunPod(t).Start(t, ref, cmd("spawn", "3", "1h"), func(c *runtimeapi.ContainerConfig) {
			c.Linux.SecurityContext.NamespaceOptions = &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE, Pid: runtimeapi.NamespaceMode_NODE}
		})
		if got := c.Ended(t); got.GetExitCode() != 0 {
			t.Errorf("status = %v", got)
		}
		if left := cgroups(t, c.ID); len(left) != 0 {
			t.Errorf("cgroups %v are left", left)
		}
	})
	t.Run("STK-2 limits reach the kernel", func(t *testing.T) {
		c := n.RunPod(t).Start(t, ref, cmd("sleep"), func(c *runtimeapi.ContainerConfig) {
			c.Linux.Resources = &runtimeapi.LinuxContainerResources{MemoryLimitInBytes: 64 << 20, OomScoreAdj: 500}
		})
		if got := memoryLimit(t, c); got != 64<<20 {
			t.Errorf("memory limit = %d, want 64 MiB", got)
		}
		_, err := n.UpdateContainerResources(runtimetest.Context(t), &runtimeapi.UpdateContainerResourcesRequest{
			ContainerId: c.ID, Linux: &runtimeapi.LinuxContainerResources{MemoryLimitInBytes: 128 << 20},
		})
		if got := memoryLimit(t, c); err != nil || got != 128<<20 {
			t.Errorf("memory limit after the update = %d, %v, want 128 MiB", got, err)
		}
		if got := read(t, c, "/proc/1/oom_score_adj"); got != "500\n" {
			t.Errorf("OOM score = %q, want 500", got)
		}
		stats, err := n.ContainerStats(runtimetest.Context(t), &runtimeapi.ContainerStatsRequest{ContainerId: c.ID})
		if err != nil || stats.GetStats().GetMemory().GetWorkingSetBytes().GetValue() == 0 || stats.GetStats().GetCpu().GetUsageCoreNanoSeconds().GetValue() == 0 {
			t.Errorf("stats = %v, %v", stats, err)
		}
	})
	t.Run("STK-2 STK-10 what cannot be kept is refused by name, not ignored", func(t *testing.T) {
		p := n.RunPod(t)
		for name, change := range map[string]func(*runtimeapi.ContainerConfig, *runtimeapi.LinuxContainerSecurityContext){
			"seccomp": func(_ *runtimeapi.ContainerConfig, sc *runtimeapi.LinuxContainerSecurityContext) {
				sc.Seccomp = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}
			},
			"apparmor": func(_ *runtimeapi.ContainerConfig, sc *runtimeapi.LinuxContainerSecurityContext) {
				sc.Apparmor = &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: "x"}
			},
			"selinux_options": func(_ *runtimeapi.ContainerConfig, sc *runtimeapi.LinuxContainerSecurityContext) {
				sc.SelinuxOptions = &runtimeapi.SELinuxOption{Type: "x_t"}
			},
			"userns_options": func(_ *runtimeapi.ContainerConfig, sc *runtimeapi.LinuxContainerSecurityContext) {
				sc.NamespaceOptions = &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE, UsernsOptions: &runtimeapi.UserNamespace{}}
			},
			"drop_capabilities": func(_ *runtimeapi.ContainerConfig, sc *runtimeapi.LinuxContainerSecurityContext) {
				sc.Capabilities = &runtimeapi.Capability{DropCapabilities: []string{"CAP_ALL"}}
			},
			"privileged": func(_ *runtimeapi.ContainerConfig, sc *runtimeapi.LinuxContainerSecurityContext) {
				sc.Privileged = true
			},
			"CDI_devices": func(c *runtimeapi.ContainerConfig, _ *runtimeapi.LinuxContainerSecurityContext) {
				c.CDIDevices = []*runtimeapi.CDIDevice{{Name: "x"}}
			},
			"mount_options": func(c *runtimeapi.ContainerConfig, _ *runtimeapi.LinuxContainerSecurityContext) {
				c.Mounts = []*runtimeapi.Mount{{ContainerPath: "/x", HostPath: "/", MountOptions: []string{"noexec"}}}
			},
			"image": func(c *runtimeapi.ContainerConfig, _ *runtimeapi.LinuxContainerSecurityContext) {
				c.Mounts = []*runtimeapi.Mount{{ContainerPath: "/x", Image: &runtimeapi.ImageSpec{Image: ref}}}
			},
		} {
			_, err := p.TryCreate(t, ref, cmd("sleep"), func(c *runtimeapi.ContainerConfig) { change(c, c.Linux.SecurityContext) })
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), name+":") {
				t.Errorf("CreateContainer with %s = %v, want InvalidArgument that names it", name, err)
			}
		}
		_, err := n.RunPodSandbox(runtimetest.Context(t), &runtimeapi.RunPodSandboxRequest{RuntimeHandler: "gvisor", Config: p.Config})
		if err == nil {
			t.Error("an unknown runtime handler was accepted")
		}
	})
}

// namespaceOf names a namespace of the container's first process.
func namespaceOf(t *testing.T, c *runtimetest.Container, kind string) string {
	t.Helper()
	pids := processes(t, c)
	if len(pids) == 0 {
		t.Fatal("no process")
	}
	got, err := os.Readlink("/proc/" + pids[0] + "/ns/" + kind)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func memoryLimit(t *testing.T, c *runtimetest.Container) int {
	t.Helper()
	for _, path := range []string{"/sys/fs/cgroup/memory/lanyard-" + c.ID + "/memory.limit_in_bytes", "/sys/fs/cgroup/lanyard-" + c.ID + "/memory.max"} {
		if b, err := os.ReadFile(path); err == nil {
			n, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Skip("no memory cgroup")
	return 0
}
