package runtime

import (
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// defaultCapabilities is what every container gets unless the pod says otherwise: the set that users of Docker and
// containerd know.
var defaultCapabilities = []string{
	"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_MKNOD",
	"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT",
}

// capabilityNames are in the kernel's order.
var capabilityNames = []string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
	"LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE",
	"SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME",
	"SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG",
	"WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
}

// capabilities are the container's: the default set or, privileged, all; then what is dropped, then what is added. None
// is ambient unless asked for, so a user other than root starts without any.
func capabilities(sc *runtimeapi.LinuxContainerSecurityContext) *specs.LinuxCapabilities {
	asked := sc.GetCapabilities()
	set := defaultCapabilities
	if sc.GetPrivileged() || hasAll(asked.GetAddCapabilities()) {
		set = ownCapabilities()
	}
	if hasAll(asked.GetDropCapabilities()) {
		set = nil
	}
	drop, add := capNames(asked.GetDropCapabilities()), capNames(asked.GetAddCapabilities())
	ambient := capNames(asked.GetAddAmbientCapabilities())
	set = slices.DeleteFunc(slices.Clone(set), func(c string) bool { return slices.Contains(drop, c) })
	set = slices.Concat(set, add, ambient)
	slices.Sort(set)
	set = slices.Compact(set)
	return &specs.LinuxCapabilities{Bounding: set, Effective: set, Permitted: set, Inheritable: ambient, Ambient: ambient}
}

func hasAll(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, "ALL") })
}

func capNames(names []string) (out []string) {
	for _, n := range names {
		if n = strings.ToUpper(n); n != "ALL" {
			out = append(out, "CAP_"+strings.TrimPrefix(n, "CAP_"))
		}
	}
	return out
}

// ownCapabilities are those that the runtime may pass on; one that it lacks would keep the container from starting.
func ownCapabilities() (out []string) {
	for n, name := range capabilityNames {
		if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(n), 0, 0, 0); err == nil && has == 1 {
			out = append(out, "CAP_"+name)
		}
	}
	return out
}
