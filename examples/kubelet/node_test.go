package kubelet

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// hanging is a runtime that takes calls and answers none.
type hanging struct {
	runtimeapi.RuntimeServiceClient
}

func (hanging) Status(ctx context.Context, _ *runtimeapi.StatusRequest, _ ...grpc.CallOption) (*runtimeapi.StatusResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) Version(ctx context.Context, _ *runtimeapi.VersionRequest, _ ...grpc.CallOption) (*runtimeapi.VersionResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestHangingRuntimeIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		n := &node{
			name: "n1", address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 10250}, client: client,
			runtime: hanging{}, synced: func() error { return nil },
		}
		began := time.Now()
		if err := n.report(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > reportTimeout {
			t.Errorf("the report took %v, want at most %v", took, reportTimeout)
		}
		got, err := client.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c := got.Status.Conditions; len(c) != 1 || c[0].Type != corev1.NodeReady || c[0].Status != corev1.ConditionFalse {
			t.Errorf("conditions = %+v, want a node that is not ready", c)
		}
	})
}
