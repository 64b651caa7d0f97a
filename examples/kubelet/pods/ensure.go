package pods

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// round is what one step knows of its pod: what is wanted, where, and what the
// runtime has.
type round struct {
	pod     *corev1.Pod
	sandbox *sandboxRef
	found   found
}

// ensureContainers starts what should run and does not: the init containers one
// after the other, then all containers. It returns when a restart is due.
func (w *worker) ensureContainers(ctx context.Context, r round) (time.Duration, error) {
	policy := r.pod.Spec.RestartPolicy
	for i := range r.pod.Spec.InitContainers {
		state, again, err := w.ensure(ctx, r, &r.pod.Spec.InitContainers[i], initPolicy(policy))
		if err != nil || state != succeeded {
			return again, err
		}
	}
	var soonest time.Duration
	for i := range r.pod.Spec.Containers {
		_, again, err := w.ensure(ctx, r, &r.pod.Spec.Containers[i], policy)
		if err != nil {
			return 0, err
		}
		if again > 0 && (soonest == 0 || again < soonest) {
			soonest = again
		}
	}
	return soonest, nil
}

// initPolicy is the restart policy of a pod's init containers: what has succeeded is
// not started again.
func initPolicy(pod corev1.RestartPolicy) corev1.RestartPolicy {
	if pod == corev1.RestartPolicyNever {
		return pod
	}
	return corev1.RestartPolicyOnFailure
}

// outcome is where a container stands after ensure.
type outcome int

const (
	pending outcome = iota
	running
	succeeded
	failed
)

// ensure starts the container unless it runs or, by the restart policy, has ended for
// good. It returns when to look again, 0 for never.
func (w *worker) ensure(ctx context.Context, r round, c *corev1.Container, policy corev1.RestartPolicy) (outcome, time.Duration, error) {
	last := r.found.latest(c.Name)
	if last != nil {
		switch last.GetState() {
		case runtimeapi.ContainerState_CONTAINER_RUNNING:
			delete(w.problems, c.Name)
			return running, 0, nil
		case runtimeapi.ContainerState_CONTAINER_CREATED:
			return pending, 0, w.start(ctx, r.pod, c, last.GetId())
		}
		end, again, err := w.ended(ctx, last, policy)
		if err != nil || end != pending || again > 0 {
			return end, again, err
		}
	}
	if wait := time.Until(w.retryAt[c.Name]); wait > 0 {
		return pending, wait, nil
	}
	return w.launch(ctx, r, c, attemptAfter(last))
}

// attemptAfter numbers the container that follows last, which is nil for the first.
func attemptAfter(last *runtimeapi.Container) uint32 {
	if last == nil {
		return 0
	}
	return last.GetMetadata().GetAttempt() + 1
}

// launch makes a new container and remembers what stood in the way.
func (w *worker) launch(ctx context.Context, r round, c *corev1.Container, attempt uint32) (outcome, time.Duration, error) {
	p, err := w.create(ctx, r, c, attempt)
	if err == nil {
		delete(w.problems, c.Name)
		return running, 0, nil
	}
	w.problems[c.Name] = p
	w.retryAt[c.Name] = time.Now().Add(w.m.Backoff)
	w.m.Events.Eventf(r.pod, corev1.EventTypeWarning, "Failed", "%s: %v", p.reason, err)
	return pending, w.m.Backoff, nil
}

// ended decides about a container that has exited: that it is over, or how long until
// it may start again, 0 for now.
func (w *worker) ended(ctx context.Context, last *runtimeapi.Container, policy corev1.RestartPolicy) (outcome, time.Duration, error) {
	resp, err := w.m.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: last.GetId()})
	if err != nil {
		return pending, 0, err
	}
	status := resp.GetStatus()
	switch ok := status.GetExitCode() == 0; {
	case ok && policy != corev1.RestartPolicyAlways:
		return succeeded, 0, nil
	case !ok && policy == corev1.RestartPolicyNever:
		return failed, 0, nil
	}
	restarts := last.GetMetadata().GetAttempt()
	if restarts == 0 {
		return pending, 0, nil
	}
	name := last.GetLabels()[LabelContainerName]
	due := time.Unix(0, status.GetFinishedAt()).Add(backoff(w.m.Backoff, restarts))
	if wait := time.Until(due); wait > 0 {
		w.problems[name] = problem{"CrashLoopBackOff", fmt.Sprintf("restarting after %v", wait.Round(time.Second))}
		return pending, wait, nil
	}
	return pending, 0, nil
}

// backoff is the wait before restart number restarts+1.
func backoff(base time.Duration, restarts uint32) time.Duration {
	return min(MaxBackoff, base<<min(restarts-1, 16))
}
