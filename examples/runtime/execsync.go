package runtime

import (
	"bytes"
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// maxSyncOutput is what ExecSync returns of each stream at most; the rest is read and dropped.
const maxSyncOutput = 4 << 20 // 4 MiB: two of them fit into a message

// ExecSync runs a command to its end, as probes and hooks do. It never carries an environment, and it is neither
// marked nor journalled: no request of the API server stands behind it (KEP-6035, Hooks and Probes).
func (s *Server) ExecSync(ctx context.Context, req *runtimeapi.ExecSyncRequest) (*runtimeapi.ExecSyncResponse, error) {
	c, err := s.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	if len(req.GetCmd()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "exec has no command")
	}
	if req.GetTimeout() > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(req.GetTimeout())*time.Second)
		defer cancel()
	}
	var out, errs bounded
	code, err := s.execSync(ctx, c, req.GetCmd(), stdio{out: &out, err: &errs})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, status.Errorf(codes.DeadlineExceeded, "exec in container %q: timeout of %ds exceeded", c.record.ID, req.GetTimeout())
	}
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ExecSyncResponse{Stdout: out.Bytes(), Stderr: errs.Bytes(), ExitCode: int32(code)}, nil
}

func (s *Server) execSync(ctx context.Context, c *container, cmd []string, to stdio) (int, error) {
	spec, err := s.execSpec(c, cmd, nil, false)
	if err != nil {
		return 0, err
	}
	conn, err := monitor.Dial(c.dir)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return s.runSession(ctx, conn, c, spec, to, nil)
}

// bounded keeps the first maxSyncOutput bytes.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	b.Buffer.Write(p[:min(n, maxSyncOutput-b.Len())])
	return n, nil
}

func (b *bounded) Close() error { return nil }
