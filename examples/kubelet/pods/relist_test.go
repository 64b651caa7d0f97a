package pods

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// hanging is a runtime that takes calls and answers none.
type hanging struct {
	runtimeapi.RuntimeServiceClient
}

func (hanging) ListPodSandbox(ctx context.Context, _ *runtimeapi.ListPodSandboxRequest, _ ...grpc.CallOption) (*runtimeapi.ListPodSandboxResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestHangingRuntimeIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Manager{Options: Options{Runtime: hanging{}}}
		if err := m.relist(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("relist = %v, want the end of its time", err)
		}
	})
}
