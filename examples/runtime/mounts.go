package runtime

import (
	"path/filepath"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// mounts are the kernel's file systems, the pod's files and the pod's volumes, in the order in which they are mounted.
// A volume replaces what would be at its place otherwise.
func mounts(b *sandbox, c *container) ([]specs.Mount, error) {
	privileged := c.config.GetLinux().GetSecurityContext().GetPrivileged()
	out := append(kernelMounts(privileged), podMounts(b)...)
	for _, m := range c.config.GetMounts() {
		volume, err := volume(m)
		if err != nil {
			return nil, err
		}
		kept := out[:0]
		for _, other := range out {
			if other.Destination != volume.Destination {
				kept = append(kept, other)
			}
		}
		out = append(kept, volume)
	}
	return out, nil
}

func kernelMounts(privileged bool) []specs.Mount {
	sys := specs.Mount{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}}
	if privileged {
		sys.Options = []string{"nosuid", "noexec", "nodev", "rw"}
	}
	if rootless() {
		// A sysfs of its own needs a network namespace that belongs to the user.
		sys = specs.Mount{Destination: "/sys", Type: "none", Source: "/sys", Options: []string{"rbind", "nosuid", "noexec", "nodev", "ro"}}
	}
	pts := []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}
	if !rootless() {
		pts = append(pts, "gid=5")
	}
	return []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: pts},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
		sys,
	}
}

func podMounts(b *sandbox) []specs.Mount {
	file := func(name, at string) specs.Mount {
		return specs.Mount{Destination: at, Type: "bind", Source: filepath.Join(b.dir, name), Options: []string{"bind", "nosuid", "nodev", "noexec"}}
	}
	out := []specs.Mount{file("resolv.conf", "/etc/resolv.conf")}
	if b.config.GetHostname() != "" {
		out = append(out, file("hostname", "/etc/hostname"))
	}
	return out
}

var propagation = map[runtimeapi.MountPropagation]string{
	runtimeapi.MountPropagation_PROPAGATION_PRIVATE:           "rprivate",
	runtimeapi.MountPropagation_PROPAGATION_HOST_TO_CONTAINER: "rslave",
	runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL:     "rshared",
}

func volume(m *runtimeapi.Mount) (specs.Mount, error) {
	if !strings.HasPrefix(m.GetContainerPath(), "/") {
		return specs.Mount{}, status.Errorf(codes.InvalidArgument, "mount %q: the path in the container is not absolute", m.GetContainerPath())
	}
	access := "rw"
	switch {
	case m.GetRecursiveReadOnly():
		access = "rro"
	case m.GetReadonly():
		access = "ro"
	}
	return specs.Mount{
		Destination: filepath.Clean(m.GetContainerPath()), Type: "bind", Source: m.GetHostPath(),
		Options: []string{"rbind", propagation[m.GetPropagation()], access},
	}, nil
}
