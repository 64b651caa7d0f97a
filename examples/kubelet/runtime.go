package kubelet

import (
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// maxMessage is the largest CRI message that is taken.
const maxMessage = 16 << 20 // 16 MiB

// runtimeClients are the two services of a CRI runtime.
type runtimeClients struct {
	runtime runtimeapi.RuntimeServiceClient
	images  runtimeapi.ImageServiceClient
	conns   []*grpc.ClientConn
}

// dialRuntime connects to the endpoints, the second being the first where it is
// empty. The connection is made when it is first used, and again when it is lost.
func dialRuntime(runtimeEndpoint, imageEndpoint string) (*runtimeClients, error) {
	if imageEndpoint == "" {
		imageEndpoint = runtimeEndpoint
	}
	c := &runtimeClients{}
	for _, endpoint := range []string{runtimeEndpoint, imageEndpoint} {
		conn, err := grpc.NewClient(endpoint,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.conns = append(c.conns, conn)
	}
	c.runtime = runtimeapi.NewRuntimeServiceClient(c.conns[0])
	c.images = runtimeapi.NewImageServiceClient(c.conns[1])
	return c, nil
}

func (c *runtimeClients) close() error {
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
