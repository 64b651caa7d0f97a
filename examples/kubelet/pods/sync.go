package pods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	// Asked anew each time: a runtime may have lost a feature since. What runs goes on, what is made anew must be admitted.
	w.admission = w.m.Admit.Admit(pod)
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
	again, err := w.ensureContainers(ctx, pod, sandbox, found)
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
	made, err := w.m.Runtime.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config})
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

// ensureContainers starts what should run and does not: the init containers one
// after the other, then all containers. It returns when a restart is due.
func (w *worker) ensureContainers(ctx context.Context, pod *corev1.Pod, s *sandboxRef, f found) (time.Duration, error) {
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		state, again, err := w.ensure(ctx, pod, c, s, f, pod.Spec.RestartPolicy != corev1.RestartPolicyNever, true)
		if err != nil || state != succeeded {
			return again, err
		}
	}
	var soonest time.Duration
	for i := range pod.Spec.Containers {
		_, again, err := w.ensure(ctx, pod, &pod.Spec.Containers[i], s, f, pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure, pod.Spec.RestartPolicy != corev1.RestartPolicyAlways)
		if err != nil {
			return 0, err
		}
		if again > 0 && (soonest == 0 || again < soonest) {
			soonest = again
		}
	}
	return soonest, nil
}

// outcome is where a container stands after ensure.
type outcome int

const (
	pending outcome = iota
	running
	succeeded
	failed
)

// ensure starts the container unless it runs or has ended for good. With
// onFailure set a failed one is started again, with once set a successful one is not.
func (w *worker) ensure(ctx context.Context, pod *corev1.Pod, c *corev1.Container, s *sandboxRef, f found, onFailure, once bool) (outcome, time.Duration, error) {
	last := f.latest(c.Name)
	attempt := uint32(0)
	if last != nil {
		switch last.GetState() {
		case runtimeapi.ContainerState_CONTAINER_RUNNING:
			delete(w.problems, c.Name)
			return running, 0, nil
		case runtimeapi.ContainerState_CONTAINER_CREATED:
			return pending, 0, w.startContainer(ctx, pod, c, last.GetId())
		}
		attempt = last.GetMetadata().GetAttempt() + 1
		again, end, err := w.ended(ctx, last, onFailure, once)
		if err != nil || end != pending || again > 0 {
			return end, again, err
		}
	}
	if wait := time.Until(w.retryAt[c.Name]); wait > 0 {
		return pending, wait, nil
	}
	if p, err := w.create(ctx, pod, c, s, attempt); err != nil {
		w.problems[c.Name] = p
		w.retryAt[c.Name] = time.Now().Add(w.m.Backoff)
		w.m.Events.Eventf(pod, corev1.EventTypeWarning, "Failed", "%s: %v", p.reason, err)
		return pending, w.m.Backoff, nil
	}
	delete(w.problems, c.Name)
	return running, 0, nil
}

// ended decides about a container that has exited: that it is over, or when it may
// start again, 0 for now.
func (w *worker) ended(ctx context.Context, last *runtimeapi.Container, onFailure, once bool) (time.Duration, outcome, error) {
	resp, err := w.m.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: last.GetId()})
	if err != nil {
		return 0, pending, err
	}
	status := resp.GetStatus()
	switch ok := status.GetExitCode() == 0; {
	case ok && once:
		return 0, succeeded, nil
	case !ok && once && !onFailure:
		return 0, failed, nil
	}
	restarts := last.GetMetadata().GetAttempt()
	if restarts == 0 {
		return 0, pending, nil
	}
	name := last.GetLabels()[LabelContainerName]
	due := time.Unix(0, status.GetFinishedAt()).Add(backoff(w.m.Backoff, restarts))
	if wait := time.Until(due); wait > 0 {
		w.problems[name] = problem{"CrashLoopBackOff", fmt.Sprintf("restarting after %v", wait.Round(time.Second))}
		return wait, pending, nil
	}
	return 0, pending, nil
}

// backoff is the wait before restart number restarts+1.
func backoff(base time.Duration, restarts uint32) time.Duration {
	return min(MaxBackoff, base<<min(restarts-1, 16))
}

// create pulls the image, creates the container and starts it.
func (w *worker) create(ctx context.Context, pod *corev1.Pod, c *corev1.Container, s *sandboxRef, attempt uint32) (problem, error) {
	ref, err := w.pull(ctx, pod, c)
	if err != nil {
		return problem{"ErrImagePull", err.Error()}, err
	}
	image, err := w.m.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
	if err != nil {
		return problem{"ImageInspectError", err.Error()}, err
	}
	config, err := w.m.containerConfig(ctx, pod, c, attempt, ref, image.GetImage())
	if err != nil {
		return problem{"CreateContainerConfigError", err.Error()}, err
	}
	// Kubernetes leaves the folders of logs to the kubelet.
	if err := os.MkdirAll(filepath.Join(w.m.logDirectory(pod), c.Name), 0o755); err != nil {
		return problem{"CreateContainerError", err.Error()}, err
	}
	made, err := w.m.Runtime.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{PodSandboxId: s.id, Config: config, SandboxConfig: s.config})
	if err != nil {
		return problem{"CreateContainerError", err.Error()}, err
	}
	if err := w.startContainer(ctx, pod, c, made.GetContainerId()); err != nil {
		return problem{"RunContainerError", err.Error()}, err
	}
	return problem{}, nil
}

func (w *worker) pull(ctx context.Context, pod *corev1.Pod, c *corev1.Container) (string, error) {
	started := time.Now()
	ref, err := w.m.Puller.Ensure(ctx, pod, c)
	if err != nil {
		w.m.Events.Eventf(pod, corev1.EventTypeWarning, "Failed", "Failed to pull image %q: %v", c.Image, err)
		return "", err
	}
	w.m.Events.Eventf(pod, corev1.EventTypeNormal, "Pulled", "Image %q is on the node after %v", c.Image, time.Since(started).Round(time.Millisecond))
	return ref, nil
}

func (w *worker) startContainer(ctx context.Context, pod *corev1.Pod, c *corev1.Container, id string) error {
	if _, err := w.m.Runtime.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: id}); err != nil {
		return err
	}
	w.m.Events.Eventf(pod, corev1.EventTypeNormal, "Started", "Started container %s", c.Name)
	return nil
}
