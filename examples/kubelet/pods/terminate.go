package pods

import (
	"context"
	"errors"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// defaultGrace is the API's default in seconds.
const defaultGrace = 30

// grace returns how many seconds the pod's processes have to end.
func grace(pod *corev1.Pod) int64 {
	switch {
	case pod.DeletionGracePeriodSeconds != nil:
		return *pod.DeletionGracePeriodSeconds
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return *pod.Spec.TerminationGracePeriodSeconds
	}
	return defaultGrace
}

// find returns the sandboxes and containers of a pod, newest first.
func (m *Manager) find(ctx context.Context, uid types.UID) (found, error) {
	selector := map[string]string{LabelPodUID: string(uid), LabelNode: m.Node}
	sandboxes, err := m.Runtime.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{LabelSelector: selector}})
	if err != nil {
		return found{}, err
	}
	containers, err := m.Runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{LabelSelector: selector}})
	if err != nil {
		return found{}, err
	}
	f := found{sandboxes.GetItems(), containers.GetContainers()}
	slices.SortFunc(f.sandboxes, func(a, b *runtimeapi.PodSandbox) int { return int(b.GetCreatedAt() - a.GetCreatedAt()) })
	slices.SortFunc(f.containers, func(a, b *runtimeapi.Container) int {
		if d := int(b.GetMetadata().GetAttempt()) - int(a.GetMetadata().GetAttempt()); d != 0 {
			return d
		}
		return int(b.GetCreatedAt() - a.GetCreatedAt())
	})
	return f, nil
}

// terminate ends the pod's processes, says how they ended, removes what is left,
// and lets the API server forget the pod.
func (w *worker) terminate(ctx context.Context, pod *corev1.Pod, removed bool) (done bool, err error) {
	if err := w.stop(ctx, pod); err != nil {
		return false, err
	}
	if !removed {
		if err := w.report(ctx, pod); err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
	}
	if err := w.clear(ctx, pod); err != nil {
		return false, err
	}
	if !removed {
		now := int64(0)
		err := w.m.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return false, err
		}
	}
	return true, nil
}

// stop ends the pod's containers, all at once, and its sandboxes.
func (w *worker) stop(ctx context.Context, pod *corev1.Pod) error {
	f, err := w.m.find(ctx, pod.UID)
	if err != nil {
		return err
	}
	errs := make(chan error, len(f.containers))
	for _, c := range f.containers {
		go func() {
			if c.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING {
				errs <- nil
				return
			}
			_, err := w.m.Runtime.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: c.GetId(), Timeout: grace(pod)})
			errs <- err
		}()
	}
	for range f.containers {
		err = errors.Join(err, <-errs)
	}
	for _, s := range f.sandboxes {
		if s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY {
			_, stopErr := w.m.Runtime.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: s.GetId()})
			err = errors.Join(err, stopErr)
		}
	}
	return err
}

// clear removes the pod's containers, sandboxes, volumes and logs.
func (w *worker) clear(ctx context.Context, pod *corev1.Pod) error {
	f, err := w.m.find(ctx, pod.UID)
	if err != nil {
		return err
	}
	for _, c := range f.containers {
		if _, err := w.m.Runtime.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: c.GetId()}); err != nil {
			return err
		}
	}
	for _, s := range f.sandboxes {
		if _, err := w.m.Runtime.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: s.GetId()}); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(w.m.podDirectory(pod)), os.RemoveAll(w.m.logDirectory(pod)))
}
