package conformance_test

import (
	"context"
	"net"
	"path"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// hook changes one call: next is the runtime.
type hook func(ctx context.Context, request []byte, next func([]byte) ([]byte, error)) ([]byte, error)

// changed is a hook that changes the request and the response; either may be nil.
func changed[Q, R proto.Message](q Q, request func(Q), r R, response func(R)) hook {
	return func(_ context.Context, in []byte, next func([]byte) ([]byte, error)) ([]byte, error) {
		in, err := edit(in, q, request)
		if err != nil {
			return nil, err
		}
		out, err := next(in)
		if err != nil {
			return nil, err
		}
		return edit(out, r, response)
	}
}

func edit[M proto.Message](b []byte, empty M, f func(M)) ([]byte, error) {
	if f == nil {
		return b, nil
	}
	m := proto.Clone(empty).(M)
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, err
	}
	f(m)
	return proto.Marshal(m)
}

// proxy serves the runtime at the endpoint with some calls changed, by name, and returns its own endpoint.
func proxy(t testing.TB, endpoint string, hooks map[string]hook) string {
	t.Helper()
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{})))
	if err != nil {
		t.Fatal(err)
	}
	forward := func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		var in []byte
		if err := stream.RecvMsg(&in); err != nil {
			return err
		}
		ctx := stream.Context()
		next := func(in []byte) (out []byte, err error) { return out, conn.Invoke(ctx, method, &in, &out) }
		h, ok := hooks[path.Base(method)]
		if !ok {
			h = func(_ context.Context, in []byte, next func([]byte) ([]byte, error)) ([]byte, error) { return next(in) }
		}
		out, err := h(ctx, in, next)
		if err != nil {
			return err
		}
		return stream.SendMsg(&out)
	}
	socket := filepath.Join(newDir(t), "proxy.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.UnknownServiceHandler(forward), grpc.ForceServerCodec(codec{}))
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
		conn.Close()
	})
	return "unix://" + socket
}

// codec leaves messages as they are.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (codec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (codec) Name() string { return "proto" }
