package pods

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ErrNotFound is what the errors of Container and Sandbox unwrap to when the node
// has no such pod, or the pod no such container that runs.
var ErrNotFound = errors.New("not found")

// Container returns a running container of the pod; any container of it that runs
// or has run where state is not needed.
func (m *Manager) Container(ctx context.Context, pod *corev1.Pod, name string, mustRun bool) (*runtimeapi.Container, error) {
	f, err := m.find(ctx, pod.UID)
	if err != nil {
		return nil, err
	}
	c := f.latest(name)
	if c == nil || mustRun && c.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, fmt.Errorf("container %q of pod %s/%s: %w", name, pod.Namespace, pod.Name, ErrNotFound)
	}
	return c, nil
}

// Sandbox returns the ID of the pod's sandbox that is ready.
func (m *Manager) Sandbox(ctx context.Context, pod *corev1.Pod) (string, error) {
	f, err := m.find(ctx, pod.UID)
	if err != nil {
		return "", err
	}
	for _, s := range f.sandboxes {
		if s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY {
			return s.GetId(), nil
		}
	}
	return "", fmt.Errorf("sandbox of pod %s/%s: %w", pod.Namespace, pod.Name, ErrNotFound)
}

// Lookup returns the pod of that name and, unless it is empty, that UID.
func (m *Manager) Lookup(namespace, name string, uid types.UID) (*corev1.Pod, error) {
	pod, there := m.Pod(namespace, name)
	if !there || uid != "" && pod.UID != uid {
		return nil, fmt.Errorf("pod %s/%s: %w", namespace, name, ErrNotFound)
	}
	return pod, nil
}

// Running returns the pods that have a container running in the runtime, in no
// order, with names and states only.
func (m *Manager) Running(ctx context.Context) ([]*corev1.Pod, error) {
	resp, err := m.Runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{
		LabelSelector: map[string]string{LabelNode: m.Node},
		State:         &runtimeapi.ContainerStateValue{State: runtimeapi.ContainerState_CONTAINER_RUNNING},
	}})
	if err != nil {
		return nil, err
	}
	byUID := map[types.UID]*corev1.Pod{}
	var out []*corev1.Pod
	for _, c := range resp.GetContainers() {
		labels := c.GetLabels()
		pod := byUID[uidOf(labels)]
		if pod == nil {
			pod = &corev1.Pod{}
			pod.Name, pod.Namespace, pod.UID = labels[LabelPodName], labels[LabelPodNamespace], uidOf(labels)
			byUID[pod.UID] = pod
			out = append(out, pod)
		}
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: labels[LabelContainerName], Image: c.GetImage().GetUserSpecifiedImage()})
	}
	return out, nil
}

// LogFile returns the file on the host that holds the log of a container.
func (m *Manager) LogFile(ctx context.Context, c *runtimeapi.Container) (string, error) {
	resp, err := m.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: c.GetId()})
	if err != nil {
		return "", err
	}
	return resp.GetStatus().GetLogPath(), nil
}
