// Package client speaks CRI: the two services, and exec sessions over the runtime's streaming server.
package client

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// maxMessage is what the kubelet allows for a CRI message too.
const maxMessage = 16 << 20 // 16 MiB

// Client is a runtime as the kubelet sees it. It is safe for concurrent use.
type Client struct {
	runtimeapi.RuntimeServiceClient
	Images runtimeapi.ImageServiceClient

	conns []*grpc.ClientConn
}

// Dial makes a client of the endpoints, such as unix:///run/containerd/containerd.sock; image is runtime's if empty.
// Nothing is connected yet. Close it when done.
func Dial(runtime, image string) (*Client, error) {
	if runtime == "" {
		return nil, errors.New("no runtime endpoint")
	}
	if image == "" {
		image = runtime
	}
	c := &Client{}
	for _, endpoint := range []string{runtime, image} {
		conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("endpoint %q: %w", endpoint, err), c.Close())
		}
		c.conns = append(c.conns, conn)
	}
	c.RuntimeServiceClient = runtimeapi.NewRuntimeServiceClient(c.conns[0])
	c.Images = runtimeapi.NewImageServiceClient(c.conns[1])
	return c, nil
}

// Close ends the connections.
func (c *Client) Close() error {
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// Refused reports whether the error is the runtime's own no, and not that it could not be asked or did not answer in
// time.
func Refused(err error) bool {
	switch status.Code(err) {
	case codes.OK, codes.Unavailable, codes.Canceled, codes.DeadlineExceeded, codes.Unimplemented:
		return false
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}
