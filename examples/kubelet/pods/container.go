package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	supkubelet "github.com/lanyard-dev/lanyard/supgroups/kubelet"
)

// ErrRunsAsRoot is returned for a container that must not run as root and would.
var ErrRunsAsRoot = errors.New("container has runAsNonRoot and its user is root")

// ErrUserIsAName is returned for a container that must not run as root and whose
// image names its user, since only the image says who that is.
var ErrUserIsAName = errors.New("container has runAsNonRoot and its image has a user by name: cannot verify that it is not root")

// containerConfig returns the container of a pod as the runtime is asked for it;
// attempt counts the restarts, image is what the runtime reports of imageRef.
func (m *Manager) containerConfig(ctx context.Context, pod *corev1.Pod, c *corev1.Container, attempt uint32, imageRef string, image *runtimeapi.Image) (*runtimeapi.ContainerConfig, error) {
	envs, err := m.environment(ctx, pod, c)
	if err != nil {
		return nil, err
	}
	mounts, err := m.mounts(ctx, pod, c)
	if err != nil {
		return nil, err
	}
	security, err := securityContext(pod, c, imageUser(image))
	if err != nil {
		return nil, err
	}
	asked, err := json.Marshal(c.Resources)
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ContainerConfig{
		Metadata:    &runtimeapi.ContainerMetadata{Name: c.Name, Attempt: attempt},
		Image:       &runtimeapi.ImageSpec{Image: imageRef, UserSpecifiedImage: c.Image},
		Command:     c.Command,
		Args:        c.Args,
		WorkingDir:  c.WorkingDir,
		Envs:        envs,
		Mounts:      mounts,
		Labels:      containerLabels(pod, c.Name, m.Node),
		Annotations: map[string]string{annotationGrace: fmt.Sprint(grace(pod)), annotationResources: string(asked)},
		LogPath:     logPath(c.Name, attempt),
		Stdin:       c.Stdin,
		StdinOnce:   c.StdinOnce,
		Tty:         c.TTY,
		Linux: &runtimeapi.LinuxContainerConfig{
			Resources:       resources(c),
			SecurityContext: security,
		},
	}, nil
}

func securityContext(pod *corev1.Pod, c *corev1.Container, imageUser string) (*runtimeapi.LinuxContainerSecurityContext, error) {
	request, err := supkubelet.Request(&pod.Spec, c, imageUser)
	if err != nil {
		return nil, err
	}
	out := &runtimeapi.LinuxContainerSecurityContext{NamespaceOptions: namespaces(pod)}
	if err := supkubelet.SetContainer(out, request); err != nil {
		return nil, err
	}
	if nonRoot(pod, c) {
		switch {
		case out.RunAsUsername != "":
			return nil, ErrUserIsAName
		case out.RunAsUser.GetValue() == 0:
			return nil, ErrRunsAsRoot
		}
	}
	setProfiles(out, pod, c)
	sc := c.SecurityContext
	if sc == nil || sc.Privileged == nil || !*sc.Privileged {
		out.MaskedPaths, out.ReadonlyPaths = maskedPaths(), readOnlyPaths()
	}
	if sc == nil {
		return out, nil
	}
	out.Privileged = sc.Privileged != nil && *sc.Privileged
	out.ReadonlyRootfs = sc.ReadOnlyRootFilesystem != nil && *sc.ReadOnlyRootFilesystem
	out.NoNewPrivs = sc.AllowPrivilegeEscalation != nil && !*sc.AllowPrivilegeEscalation
	if caps := sc.Capabilities; caps != nil {
		out.Capabilities = &runtimeapi.Capability{}
		for _, add := range caps.Add {
			out.Capabilities.AddCapabilities = append(out.Capabilities.AddCapabilities, string(add))
		}
		for _, drop := range caps.Drop {
			out.Capabilities.DropCapabilities = append(out.Capabilities.DropCapabilities, string(drop))
		}
	}
	return out, nil
}

func nonRoot(pod *corev1.Pod, c *corev1.Container) bool {
	if sc := c.SecurityContext; sc != nil && sc.RunAsNonRoot != nil {
		return *sc.RunAsNonRoot
	}
	sc := pod.Spec.SecurityContext
	return sc != nil && sc.RunAsNonRoot != nil && *sc.RunAsNonRoot
}

// Shares and periods of the kernel's CPU controller.
const (
	sharesPerCPU = 1024
	minShares    = 2
	cpuPeriod    = 100_000 // microseconds
)

func resources(c *corev1.Container) *runtimeapi.LinuxContainerResources {
	out := &runtimeapi.LinuxContainerResources{
		CpuShares:          max(minShares, c.Resources.Requests.Cpu().MilliValue()*sharesPerCPU/1000),
		MemoryLimitInBytes: c.Resources.Limits.Memory().Value(),
	}
	if limit := c.Resources.Limits.Cpu().MilliValue(); limit > 0 {
		out.CpuPeriod = cpuPeriod
		out.CpuQuota = limit * cpuPeriod / 1000
	}
	return out
}
