package pods

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// exited is a runtime whose containers have ended with that code, long ago.
type exited struct {
	runtimeapi.RuntimeServiceClient
	code int32
}

func (e exited) ContainerStatus(context.Context, *runtimeapi.ContainerStatusRequest, ...grpc.CallOption) (*runtimeapi.ContainerStatusResponse, error) {
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{ExitCode: e.code}}, nil
}

// TestEnded has what becomes of a container that has exited: pending is one that is started again.
func TestEnded(t *testing.T) {
	const always, onFailure, never = corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever
	for _, c := range []struct {
		name   string
		policy corev1.RestartPolicy
		code   int32
		want   outcome
	}{
		{"Always, well", always, 0, pending},
		{"Always, badly", always, 1, pending},
		{"OnFailure, well", onFailure, 0, succeeded},
		{"OnFailure, badly", onFailure, 1, pending},
		{"Never, well", never, 0, succeeded},
		{"Never, badly", never, 1, failed},
		{"init container under Always, well", initPolicy(always), 0, succeeded},
		{"init container under Always, badly", initPolicy(always), 1, pending},
		{"init container under OnFailure, badly", initPolicy(onFailure), 1, pending},
		{"init container under Never, badly", initPolicy(never), 1, failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &worker{m: &Manager{Options: Options{Runtime: exited{code: c.code}, Backoff: time.Second}}, problems: map[string]problem{}}
			last := &runtimeapi.Container{Metadata: &runtimeapi.ContainerMetadata{Attempt: 3}}
			got, wait, err := w.ended(t.Context(), last, c.policy)
			if got != c.want || wait != 0 || err != nil {
				t.Errorf("ended = %v, %v, %v, want %v at once", got, wait, err, c.want)
			}
		})
	}
}
