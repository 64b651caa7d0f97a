package pods

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	supkubelet "github.com/lanyard-dev/lanyard/supgroups/kubelet"
)

// status returns what the pod's status should say.
func (w *worker) status(ctx context.Context, pod *corev1.Pod, f found) (*corev1.PodStatus, error) {
	out := pod.Status.DeepCopy()
	out.HostIP, out.PodIP = loopback, loopback
	out.HostIPs, out.PodIPs = []corev1.HostIP{{IP: loopback}}, []corev1.PodIP{{IP: loopback}}
	if out.StartTime == nil {
		now := metav1.Now().Rfc3339Copy()
		out.StartTime = &now
	}
	var err error
	if out.InitContainerStatuses, err = w.containerStatuses(ctx, pod.Spec.InitContainers, f); err != nil {
		return nil, err
	}
	if out.ContainerStatuses, err = w.containerStatuses(ctx, pod.Spec.Containers, f); err != nil {
		return nil, err
	}
	out.EphemeralContainerStatuses = ephemeralStatuses(pod)
	if !finished(pod) {
		out.Phase = phase(pod.Spec.RestartPolicy, out)
	}
	setConditions(out)
	return out, nil
}

func (w *worker) containerStatuses(ctx context.Context, containers []corev1.Container, f found) ([]corev1.ContainerStatus, error) {
	var out []corev1.ContainerStatus
	for _, c := range containers {
		status := corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: w.waiting(c.Name)}
		if last := f.latest(c.Name); last != nil {
			resp, err := w.m.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: last.GetId()})
			if err != nil {
				return nil, err
			}
			w.fill(&status, resp.GetStatus())
		}
		out = append(out, status)
	}
	return out, nil
}

func (w *worker) waiting(container string) corev1.ContainerState {
	p, there := w.problems[container]
	if !there {
		p.reason = "ContainerCreating"
	}
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: p.reason, Message: p.message}}
}

func (w *worker) fill(out *corev1.ContainerStatus, s *runtimeapi.ContainerStatus) {
	out.ContainerID = "cri://" + s.GetId()
	out.ImageID = s.GetImageRef()
	out.RestartCount = int32(s.GetMetadata().GetAttempt())
	if w.admission.UserReported {
		out.User = supkubelet.ContainerUser(s.GetUser())
	}
	switch s.GetState() {
	case runtimeapi.ContainerState_CONTAINER_RUNNING:
		out.Ready = true
		started := true
		out.Started = &started
		out.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(s.GetStartedAt())}}
	case runtimeapi.ContainerState_CONTAINER_EXITED:
		ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: s.GetExitCode(), Reason: s.GetReason(), Message: s.GetMessage(), ContainerID: out.ContainerID,
			StartedAt: at(s.GetStartedAt()), FinishedAt: at(s.GetFinishedAt()),
		}}
		if _, waits := w.problems[out.Name]; waits {
			out.LastTerminationState = ended
			return
		}
		out.State = ended
	}
}

// at is a time of the runtime, in nanoseconds since 1970, with the API's precision
// of seconds.
func at(nanos int64) metav1.Time { return metav1.NewTime(time.Unix(0, nanos).Truncate(time.Second)) }

// phase sums the containers up, as the API documents a pod's phase.
func phase(policy corev1.RestartPolicy, s *corev1.PodStatus) corev1.PodPhase {
	for _, c := range s.InitContainerStatuses {
		if t := c.State.Terminated; t == nil {
			return corev1.PodPending
		} else if t.ExitCode != 0 {
			if policy == corev1.RestartPolicyNever {
				return corev1.PodFailed
			}
			return corev1.PodPending
		}
	}
	var waiting, over, bad int
	for _, c := range s.ContainerStatuses {
		switch {
		case c.State.Waiting != nil && c.LastTerminationState.Terminated == nil:
			waiting++
		case c.State.Terminated != nil:
			over++
			if c.State.Terminated.ExitCode != 0 {
				bad++
			}
		}
	}
	switch {
	case waiting > 0:
		return corev1.PodPending
	case over < len(s.ContainerStatuses) || policy == corev1.RestartPolicyAlways:
		return corev1.PodRunning
	case bad > 0 && policy == corev1.RestartPolicyNever:
		return corev1.PodFailed
	case bad > 0:
		return corev1.PodRunning
	}
	return corev1.PodSucceeded
}

func setConditions(s *corev1.PodStatus) {
	ready := len(s.ContainerStatuses) > 0 && s.Phase == corev1.PodRunning
	for _, c := range s.ContainerStatuses {
		ready = ready && c.Ready
	}
	initialized := true
	for _, c := range s.InitContainerStatuses {
		initialized = initialized && c.State.Terminated != nil && c.State.Terminated.ExitCode == 0
	}
	setCondition(s, corev1.PodScheduled, true)
	setCondition(s, corev1.PodInitialized, initialized)
	setCondition(s, corev1.ContainersReady, ready)
	setCondition(s, corev1.PodReady, ready)
}

func setCondition(s *corev1.PodStatus, kind corev1.PodConditionType, on bool) {
	status := corev1.ConditionFalse
	if on {
		status = corev1.ConditionTrue
	}
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			if s.Conditions[i].Status != status {
				s.Conditions[i].Status, s.Conditions[i].LastTransitionTime = status, metav1.Now().Rfc3339Copy()
			}
			return
		}
	}
	s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now().Rfc3339Copy()})
}
