package pods

import (
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	supkubelet "github.com/lanyard-dev/lanyard/supgroups/kubelet"
)

// sandboxConfig returns the sandbox of a pod; attempt counts those it had before.
func (m *Manager) sandboxConfig(pod *corev1.Pod, attempt uint32) (*runtimeapi.PodSandboxConfig, error) {
	security := &runtimeapi.LinuxSandboxSecurityContext{
		NamespaceOptions: namespaces(pod),
		Privileged:       privileged(pod),
	}
	request, err := supkubelet.Request(&pod.Spec, nil, "")
	if err != nil {
		return nil, err
	}
	if err := supkubelet.SetSandbox(security, request); err != nil {
		return nil, err
	}
	return &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{
			Name: pod.Name, Namespace: pod.Namespace, Uid: string(pod.UID), Attempt: attempt,
		},
		Hostname:     hostname(pod),
		LogDirectory: m.logDirectory(pod),
		Labels:       podLabels(pod, m.Node),
		Annotations:  map[string]string{annotationGrace: fmt.Sprint(grace(pod))},
		Linux:        &runtimeapi.LinuxPodSandboxConfig{SecurityContext: security},
	}, nil
}

func hostname(pod *corev1.Pod) string {
	switch {
	case pod.Spec.HostNetwork:
		return ""
	case pod.Spec.Hostname != "":
		return pod.Spec.Hostname
	}
	return pod.Name
}

func namespaces(pod *corev1.Pod) *runtimeapi.NamespaceOption {
	mode := func(host bool, own runtimeapi.NamespaceMode) runtimeapi.NamespaceMode {
		if host {
			return runtimeapi.NamespaceMode_NODE
		}
		return own
	}
	pid := runtimeapi.NamespaceMode_CONTAINER
	if share := pod.Spec.ShareProcessNamespace; share != nil && *share {
		pid = runtimeapi.NamespaceMode_POD
	}
	return &runtimeapi.NamespaceOption{
		Network: mode(pod.Spec.HostNetwork, runtimeapi.NamespaceMode_POD),
		Pid:     mode(pod.Spec.HostPID, pid),
		Ipc:     mode(pod.Spec.HostIPC, runtimeapi.NamespaceMode_POD),
	}
}

func privileged(pod *corev1.Pod) bool {
	for _, c := range allContainers(pod) {
		if sc := c.SecurityContext; sc != nil && sc.Privileged != nil && *sc.Privileged {
			return true
		}
	}
	return false
}

// allContainers returns the init containers and then the containers.
func allContainers(pod *corev1.Pod) []*corev1.Container {
	var out []*corev1.Container
	for i := range pod.Spec.InitContainers {
		out = append(out, &pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		out = append(out, &pod.Spec.Containers[i])
	}
	return out
}

func (m *Manager) podDirectory(pod *corev1.Pod) string {
	return filepath.Join(m.Root, "pods", string(pod.UID))
}

func (m *Manager) logDirectory(pod *corev1.Pod) string {
	return filepath.Join(m.Root, "logs", fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID))
}

func logPath(container string, attempt uint32) string {
	return filepath.Join(container, fmt.Sprintf("%d.log", attempt))
}
