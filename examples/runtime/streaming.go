package runtime

import (
	"context"
	"io"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// Exec returns the URL of an exec session that is about to start there.
func (s *Server) Exec(_ context.Context, req *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	return s.exec(req)
}

// Attach returns the URL at which a client is connected to the container's own streams. It carries no environment:
// nothing is started (KEP-6035, Scope).
func (s *Server) Attach(_ context.Context, req *runtimeapi.AttachRequest) (*runtimeapi.AttachResponse, error) {
	if _, err := s.running(req.GetContainerId()); err != nil {
		return nil, err
	}
	return s.streams.GetAttach(req)
}

// PortForward returns the URL at which a client reaches ports on the pod's loopback.
func (s *Server) PortForward(_ context.Context, req *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	if s.sandbox(req.GetPodSandboxId()) == nil {
		return nil, sandboxNotFound(req.GetPodSandboxId())
	}
	return s.streams.GetPortForward(req)
}

// streamBackend is what cri-streaming calls when a client comes with a token.
type streamBackend struct{ s *Server }

func (b streamBackend) Exec(ctx context.Context, packedID string, cmd []string, in io.Reader, out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	return b.s.execInContainer(ctx, packedID, call{cmd: cmd, tty: tty}, stdio{in, out, err, resize})
}

func (b streamBackend) Attach(ctx context.Context, containerID string, in io.Reader, out, err io.WriteCloser, _ bool, resize <-chan remotecommand.TerminalSize) error {
	return b.s.attachContainer(ctx, containerID, stdio{in, out, err, resize})
}

func (b streamBackend) PortForward(ctx context.Context, sandboxID string, port int32, stream io.ReadWriteCloser) error {
	return b.s.forward(ctx, sandboxID, port, stream)
}
