package runtime

import (
	"context"
	"io"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// LoginUID is loginUID.
var LoginUID = loginUID

// MarkBy asks the monitor of the container in dir for a mark.
func MarkBy(dir string, loginUID uint32) (*monitor.Conn, monitor.Mark, error) {
	return (&container{dir: dir}).mark(loginUID)
}

// ExecInto runs an exec session whose client is the writer, without a connection between that holds output back.
func (s *Server) ExecInto(ctx context.Context, containerID string, cmd []string, out io.WriteCloser) error {
	packed, err := streaming.Pack(&runtimeapi.ExecRequest{ContainerId: containerID, Cmd: cmd})
	if err != nil {
		return err
	}
	return s.execInContainer(ctx, packed.GetContainerId(), call{cmd: cmd}, stdio{out: out})
}
