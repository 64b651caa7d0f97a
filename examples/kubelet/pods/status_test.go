package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func terminated(code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

func TestPhase(t *testing.T) {
	waiting := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	running := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	backingOff := corev1.ContainerStatus{State: waiting.State, LastTerminationState: terminated(1).State}
	type list = []corev1.ContainerStatus
	for _, c := range []struct {
		name   string
		policy corev1.RestartPolicy
		init   list
		own    list
		want   corev1.PodPhase
	}{
		{"one container has not started", corev1.RestartPolicyAlways, nil, list{running, waiting}, corev1.PodPending},
		{"all run", corev1.RestartPolicyAlways, nil, list{running, running}, corev1.PodRunning},
		{"one has ended and comes again", corev1.RestartPolicyAlways, nil, list{running, terminated(0)}, corev1.PodRunning},
		{"one waits for its restart", corev1.RestartPolicyAlways, nil, list{backingOff}, corev1.PodRunning},
		{"all ended well", corev1.RestartPolicyNever, nil, list{terminated(0), terminated(0)}, corev1.PodSucceeded},
		{"one ended badly", corev1.RestartPolicyNever, nil, list{terminated(0), terminated(3)}, corev1.PodFailed},
		{"one failed and comes again", corev1.RestartPolicyOnFailure, nil, list{terminated(3)}, corev1.PodRunning},
		{"an init container runs", corev1.RestartPolicyNever, list{running}, list{waiting}, corev1.PodPending},
		{"an init container failed", corev1.RestartPolicyNever, list{terminated(1)}, list{waiting}, corev1.PodFailed},
		{"an init container failed and comes again", corev1.RestartPolicyAlways, list{terminated(1)}, list{waiting}, corev1.PodPending},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := phase(c.policy, &corev1.PodStatus{InitContainerStatuses: c.init, ContainerStatuses: c.own})
			if got != c.want {
				t.Errorf("phase = %s, want %s", got, c.want)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	for restarts, want := range map[uint32]time.Duration{1: 10 * time.Second, 2: 20 * time.Second, 5: 160 * time.Second, 6: MaxBackoff, 1 << 31: MaxBackoff} {
		if got := backoff(10*time.Second, restarts); got != want {
			t.Errorf("backoff after %d restarts = %v, want %v", restarts, got, want)
		}
	}
}

func TestPullPolicy(t *testing.T) {
	for image, want := range map[string]corev1.PullPolicy{
		"app":                            corev1.PullAlways,
		"app:latest":                     corev1.PullAlways,
		"app:v1":                         corev1.PullIfNotPresent,
		"localhost:5000/app":             corev1.PullAlways,
		"localhost:5000/app:v1":          corev1.PullIfNotPresent,
		"app@sha256:" + "0123456789abcd": corev1.PullIfNotPresent,
	} {
		if got := PullPolicy(&corev1.Container{Image: image}); got != want {
			t.Errorf("PullPolicy(%s) = %s, want %s", image, got, want)
		}
	}
	if got := PullPolicy(&corev1.Container{Image: "app", ImagePullPolicy: corev1.PullNever}); got != corev1.PullNever {
		t.Errorf("PullPolicy with a policy = %s, want it", got)
	}
}
