package pods

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// sync admits the pod, brings its sandbox and containers up, and reports.
func (w *worker) sync(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	if finished(pod) {
		return 0, w.stop(ctx, pod)
	}
	found, err := w.m.find(ctx, pod.UID)
	if err != nil {
		return 0, err
	}
	// Asked anew each time: a runtime may have lost a feature since. What runs goes on, what is made anew must be
	// admitted.
	w.admission = w.admit(pod, found)
	if !w.admission.Rejected || found.running(pod) {
		w.refuseChanges(pod, found)
	}
	if w.admission.Rejected {
		if found.running(pod) {
			return 0, w.report(ctx, pod)
		}
		return 0, w.reject(ctx, pod)
	}
	sandbox, err := w.ensureSandbox(ctx, pod, found)
	if err != nil {
		w.m.Events.Eventf(pod, corev1.EventTypeWarning, "FailedCreatePodSandBox", "%v", err)
		return 0, err
	}
	again, err := w.ensureContainers(ctx, round{pod, sandbox, found})
	if err != nil {
		return 0, err
	}
	return again, w.report(ctx, pod)
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// found is what the runtime has of a pod, newest first.
type found struct {
	sandboxes  []*runtimeapi.PodSandbox
	containers []*runtimeapi.Container
}

// latest returns the newest container of that name, nil for none.
func (f found) latest(name string) *runtimeapi.Container {
	for _, c := range f.containers {
		if c.GetLabels()[LabelContainerName] == name {
			return c
		}
	}
	return nil
}

// running reports whether every container of the pod runs, so that none has to be made.
func (f found) running(pod *corev1.Pod) bool {
	for _, c := range pod.Spec.Containers {
		if last := f.latest(c.Name); last == nil || last.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING {
			return false
		}
	}
	return true
}

// ensureSandbox returns a sandbox that is ready, a new one if the pod has none.
func (w *worker) ensureSandbox(ctx context.Context, pod *corev1.Pod, f found) (*sandboxRef, error) {
	attempt := uint32(0)
	for _, s := range f.sandboxes {
		if s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY {
			config, err := w.m.sandboxConfig(pod, s.GetMetadata().GetAttempt())
			return &sandboxRef{s.GetId(), config}, err
		}
		attempt = max(attempt, s.GetMetadata().GetAttempt()+1)
	}
	config, err := w.m.sandboxConfig(pod, attempt)
	if err != nil {
		return nil, err
	}
	made, err := w.m.Runtime.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config, RuntimeHandler: w.m.Handler(pod)})
	if err != nil {
		return nil, err
	}
	return &sandboxRef{made.GetPodSandboxId(), config}, nil
}

// sandboxRef is a sandbox that is ready.
type sandboxRef struct {
	id     string
	config *runtimeapi.PodSandboxConfig
}
