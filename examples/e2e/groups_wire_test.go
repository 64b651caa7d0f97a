package e2e_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// groupsWire stands between a kubelet and its runtime and takes the fields of
// KEP-3619 off the messages, as a side that does not know them would. Everything
// else passes as it is. The zero state changes nothing; it may change at any time.
type groupsWire struct {
	t      *testing.T
	socket string
	conn   *grpc.ClientConn
	// oldRuntime reports neither the feature nor users, and does not see the policy.
	oldRuntime atomic.Bool
	// oldKubelet does not send the policy.
	oldKubelet atomic.Bool
}

// newGroupsWire serves on a socket of its own; it leads nowhere until it is told
// where.
func newGroupsWire(t *testing.T) *groupsWire {
	t.Helper()
	dir, err := os.MkdirTemp("", "lanyard-wire-")
	if err != nil {
		t.Fatal(err)
	}
	w := &groupsWire{t: t, socket: filepath.Join(dir, "cri.sock")}
	listener, err := net.Listen("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.UnknownServiceHandler(w.pass))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if w.conn != nil {
			w.conn.Close()
		}
		os.RemoveAll(dir)
	})
	return w
}

// before puts the wire before the runtime at the endpoint, and returns the wire's own.
func (w *groupsWire) before(endpoint string) string {
	w.t.Helper()
	if w.conn == nil {
		conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			w.t.Fatal(err)
		}
		w.conn = conn
	}
	return "unix://" + w.socket
}

func (w *groupsWire) pass(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	method = method[strings.LastIndex(method, "/"):]
	var request, response []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	if err := w.older(method, "Request", &request); err != nil {
		return err
	}
	full, _ := grpc.MethodFromServerStream(stream)
	if err := w.conn.Invoke(stream.Context(), full, &request, &response, grpc.ForceCodec(bytesCodec{})); err != nil {
		return err
	}
	if err := w.older(method, "Response", &response); err != nil {
		return err
	}
	return stream.SendMsg(&response)
}

// older rewrites a message as the older side has it.
func (w *groupsWire) older(method, kind string, data *[]byte) error {
	noPolicy := w.oldRuntime.Load() || w.oldKubelet.Load()
	switch {
	case method == "/CreateContainer" && kind == "Request" && noPolicy:
		return rewrite(data, &runtimeapi.CreateContainerRequest{}, func(m *runtimeapi.CreateContainerRequest) {
			m.GetConfig().GetLinux().GetSecurityContext().SupplementalGroupsPolicy = runtimeapi.SupplementalGroupsPolicy_Merge
		})
	case method == "/Status" && kind == "Response" && w.oldRuntime.Load():
		return rewrite(data, &runtimeapi.StatusResponse{}, func(m *runtimeapi.StatusResponse) { m.Features = nil })
	case method == "/ContainerStatus" && kind == "Response" && w.oldRuntime.Load():
		return rewrite(data, &runtimeapi.ContainerStatusResponse{}, func(m *runtimeapi.ContainerStatusResponse) { m.GetStatus().User = nil })
	}
	return nil
}

func rewrite[M proto.Message](data *[]byte, m M, change func(M)) error {
	if err := proto.Unmarshal(*data, m); err != nil {
		return err
	}
	change(m)
	out, err := proto.Marshal(m)
	*data = out
	return err
}

// bytesCodec leaves messages as they are on the wire.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "bytes" }

func (bytesCodec) Marshal(v any) ([]byte, error) {
	if b, ok := v.(*[]byte); ok {
		return *b, nil
	}
	return nil, fmt.Errorf("%T is not bytes", v)
}

func (bytesCodec) Unmarshal(data []byte, v any) error {
	if b, ok := v.(*[]byte); ok {
		*b = append([]byte(nil), data...)
		return nil
	}
	return fmt.Errorf("%T is not bytes", v)
}
