package runtime

import (
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/namespace"
)

// linux is the part of the specification that is Linux's own.
func (s *Server) linux(b *sandbox, c *container) (*specs.Linux, error) {
	namespaces, err := s.namespaces(b, c)
	if err != nil {
		return nil, err
	}
	devices, rules, err := devices(c.config.GetDevices())
	if err != nil {
		return nil, err
	}
	sc := c.config.GetLinux().GetSecurityContext()
	l := &specs.Linux{
		Namespaces:        namespaces,
		Devices:           devices,
		Sysctl:            b.config.GetLinux().GetSysctls(),
		MaskedPaths:       sc.GetMaskedPaths(),
		ReadonlyPaths:     sc.GetReadonlyPaths(),
		RootfsPropagation: rootPropagation(c.config.GetMounts()),
	}
	if rootless() {
		// Cgroups belong to the real root.
		return l, nil
	}
	l.CgroupsPath = filepath.Join("/", b.config.GetLinux().GetCgroupParent(), "lanyard-"+c.record.ID)
	l.Resources = resources(c.config.GetLinux().GetResources())
	l.Resources.Devices = append([]specs.LinuxDeviceCgroup{{Allow: sc.GetPrivileged(), Access: "rwm"}}, rules...)
	return l, nil
}

// rootPropagation lets mounts travel where a volume asks for it.
func rootPropagation(mounts []*runtimeapi.Mount) string {
	for _, m := range mounts {
		if m.GetPropagation() == runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL {
			return "rshared"
		}
	}
	return "rslave"
}

func (s *Server) namespaces(b *sandbox, c *container) ([]specs.LinuxNamespace, error) {
	out := []specs.LinuxNamespace{{Type: specs.MountNamespace}}
	for kind, as := range map[namespace.Kind]specs.LinuxNamespaceType{
		namespace.Network: specs.NetworkNamespace, namespace.IPC: specs.IPCNamespace, namespace.UTS: specs.UTSNamespace,
	} {
		if path, ok := namespace.Path(b.dir, kind); ok {
			out = append(out, specs.LinuxNamespace{Type: as, Path: path})
		}
	}
	options := c.config.GetLinux().GetSecurityContext().GetNamespaceOptions()
	switch options.GetPid() {
	case runtimeapi.NamespaceMode_NODE:
		return out, nil
	case runtimeapi.NamespaceMode_POD:
		return s.podPID(b, out)
	case runtimeapi.NamespaceMode_TARGET:
		return s.targetPID(options.GetTargetId(), out)
	}
	return append(out, specs.LinuxNamespace{Type: specs.PIDNamespace}), nil
}

func (s *Server) podPID(b *sandbox, out []specs.LinuxNamespace) ([]specs.LinuxNamespace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.record.Pause == nil {
		return nil, status.Errorf(codes.InvalidArgument, "pod sandbox %q has no PID namespace to share", b.record.ID)
	}
	return append(out, specs.LinuxNamespace{Type: specs.PIDNamespace, Path: pidNamespace(b.record.Pause.Pid)}), nil
}

func (s *Server) targetPID(target string, out []specs.LinuxNamespace) ([]specs.LinuxNamespace, error) {
	c, err := s.container(target)
	if err != nil {
		return nil, err
	}
	state, started, _ := c.state()
	if state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "target container %q does not run", target)
	}
	return append(out, specs.LinuxNamespace{Type: specs.PIDNamespace, Path: pidNamespace(started.Pid)}), nil
}

// devices are the host's device nodes that the pod asks for, with the rules that let it use them.
func devices(asked []*runtimeapi.Device) (nodes []specs.LinuxDevice, rules []specs.LinuxDeviceCgroup, err error) {
	for _, d := range asked {
		var st unix.Stat_t
		if err := unix.Stat(d.GetHostPath(), &st); err != nil {
			return nil, nil, status.Errorf(codes.InvalidArgument, "device %q: %v", d.GetHostPath(), err)
		}
		kind := map[uint32]string{unix.S_IFCHR: "c", unix.S_IFBLK: "b"}[st.Mode&unix.S_IFMT]
		if kind == "" {
			return nil, nil, status.Errorf(codes.InvalidArgument, "device %q: not a device", d.GetHostPath())
		}
		major, minor := int64(unix.Major(st.Rdev)), int64(unix.Minor(st.Rdev))
		nodes = append(nodes, specs.LinuxDevice{Path: d.GetContainerPath(), Type: kind, Major: major, Minor: minor})
		rules = append(rules, specs.LinuxDeviceCgroup{Allow: true, Type: kind, Major: &major, Minor: &minor, Access: d.GetPermissions()})
	}
	return nodes, rules, nil
}

// resources translates limits; what CRI leaves at zero is not set.
func resources(r *runtimeapi.LinuxContainerResources) *specs.LinuxResources {
	out := &specs.LinuxResources{CPU: &specs.LinuxCPU{Cpus: r.GetCpusetCpus(), Mems: r.GetCpusetMems()}, Memory: &specs.LinuxMemory{}}
	if v := uint64(r.GetCpuPeriod()); v != 0 {
		out.CPU.Period = &v
	}
	if v := r.GetCpuQuota(); v != 0 {
		out.CPU.Quota = &v
	}
	if v := uint64(r.GetCpuShares()); v != 0 {
		out.CPU.Shares = &v
	}
	if v := r.GetMemoryLimitInBytes(); v != 0 {
		out.Memory.Limit = &v
	}
	if v := r.GetMemorySwapLimitInBytes(); v != 0 {
		out.Memory.Swap = &v
	}
	for _, h := range r.GetHugepageLimits() {
		out.HugepageLimits = append(out.HugepageLimits, specs.LinuxHugepageLimit{Pagesize: h.GetPageSize(), Limit: h.GetLimit()})
	}
	out.Unified = r.GetUnified()
	return out
}
