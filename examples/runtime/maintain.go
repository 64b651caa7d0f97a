package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// ReopenContainerLog has the container's monitor open the log again, after it was rotated.
func (s *Server) ReopenContainerLog(_ context.Context, req *runtimeapi.ReopenContainerLogRequest) (*runtimeapi.ReopenContainerLogResponse, error) {
	c, err := s.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	conn, err := monitor.Dial(c.dir)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reply, err := ask(conn, monitor.Request{Op: monitor.OpReopen})
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	return &runtimeapi.ReopenContainerLogResponse{}, err
}

// UpdateContainerResources changes the limits of a running container. The status goes on to show those it was created
// with.
func (s *Server) UpdateContainerResources(ctx context.Context, req *runtimeapi.UpdateContainerResourcesRequest) (*runtimeapi.UpdateContainerResourcesResponse, error) {
	if err := checkFields(req, updateTable, host{}); err != nil {
		return nil, err
	}
	c, err := s.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	limits, err := json.Marshal(resources(req.GetLinux()))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, s.config.Runc, "--root", s.path("runc"), "update", "--resources", "-", c.record.ID)
	cmd.Stdin = bytes.NewReader(limits)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(err, errors.New(strings.TrimSpace(string(said[:min(len(said), 1<<10)]))))
	}
	return &runtimeapi.UpdateContainerResourcesResponse{}, nil
}
