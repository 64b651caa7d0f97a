package kubernetes_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// TestSupGroupsOldRuntime has the real kubelet on a runtime without KEP-3619: containerd, with its answers cut.
func TestSupGroupsOldRuntime(t *testing.T) {
	c := shared.Cluster(t)
	node := oldRuntimeNode(t, c)
	var feature *bool // never declared
	policies := []*corev1.SupplementalGroupsPolicy{pointer(corev1.SupplementalGroupsPolicyMerge), pointer(corev1.SupplementalGroupsPolicyStrict)}
	for i, pod := range runAll(t, c, node.Name, policies, nil) {
		want := admission.Admit(newComponent(t), feature, policies[i])
		t.Run("STK-13 GRP-14 GRP-15 the real kubelet admits as predicted, policy "+policyName(policies[i]), func(t *testing.T) {
			if got := pod.Status.Phase == corev1.PodFailed; got != want.Rejected || pod.Status.Reason != want.Reason {
				t.Errorf("phase %s, reason %q: %s; predicted %+v", pod.Status.Phase, pod.Status.Reason, pod.Status.Message, want)
			}
			// The KEP has another message: see admission.Message.
			if message := "SupplementalGroupsPolicy=Strict is not supported in this node"; want.Rejected && !strings.Contains(pod.Status.Message, message) {
				t.Errorf("message %q, want %q in it", pod.Status.Message, message)
			}
			if want.Rejected {
				return
			}
			for _, s := range pod.Status.ContainerStatuses {
				if (s.User != nil) != want.UserReported {
					t.Errorf("container %s: user %+v, predicted %+v", s.Name, s.User, want)
				}
			}
		})
	}
	t.Run("STK-13 GRP-13 the real node does not declare the feature", func(t *testing.T) {
		if feature := nodeFeature(t, c, node.Name); feature != nil {
			t.Errorf("node.status.features.supplementalGroupsPolicy is %v, want none", *feature)
		}
	})
	t.Run("STK-13 GRP-15 the real kubelet counts the rejection", func(t *testing.T) {
		line := fmt.Sprintf("%s{%s=%q} 1", admission.MetricName, admission.MetricLabel, admission.Reason)
		if text := metrics(t, c, node); !strings.Contains(text, line) {
			t.Errorf("the kubelet's metrics have no %s", line)
		}
	})
}

// oldRuntimeNode adds a node to the cluster, whose kubelet ends with the test.
func oldRuntimeNode(t *testing.T, c *kubernetes.Cluster) *kubernetes.Worker {
	t.Helper()
	var w *kubernetes.Worker
	w, err := c.AddNode(kubernetes.Node{Name: "old-" + strings.ToLower(rand.Text()[:6]), Config: func(k *kubeletconfig.KubeletConfiguration) {
		k.ContainerRuntimeEndpoint = "unix://" + oldRuntime(t, w)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.StartContainerd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.StartKubelet(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Kubelet().Kill() })
	return w
}

// oldRuntime serves the node's CRI without what KEP-3619 added to its answers, and returns the socket.
func oldRuntime(t *testing.T, w *kubernetes.Worker) string {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+w.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(w.Dir(), "old.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		// An empty message keeps all fields of any other.
		var request, answer emptypb.Empty
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		method, _ := grpc.MethodFromServerStream(stream)
		if err := conn.Invoke(stream.Context(), method, &request, &answer); err != nil {
			return err
		}
		older, err := cut(method, &answer)
		if err != nil {
			return err
		}
		return stream.SendMsg(older)
	}))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := errors.Join(<-served, conn.Close()); err != nil {
			t.Error(err)
		}
	})
	return socket
}

// cut removes the feature and the users from an answer.
func cut(method string, answer *emptypb.Empty) (proto.Message, error) {
	text, err := proto.Marshal(answer)
	if err != nil {
		return nil, err
	}
	switch method[strings.LastIndexByte(method, '/'):] {
	case "/Status":
		var m runtimeapi.StatusResponse
		err = proto.Unmarshal(text, &m)
		m.Features = nil
		return &m, err
	case "/ContainerStatus":
		var m runtimeapi.ContainerStatusResponse
		err = proto.Unmarshal(text, &m)
		if m.Status != nil {
			m.Status.User = nil
		}
		return &m, err
	}
	return answer, nil
}

func metrics(t *testing.T, c *kubernetes.Cluster, node *kubernetes.Worker) string {
	t.Helper()
	client, err := c.Admin().HTTP()
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Get(node.URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", got.Status, err)
	}
	return string(text)
}
