package runtime

import (
	"context"
	"encoding/json"
	"os/exec"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ContainerStats returns what one container uses.
func (s *Server) ContainerStats(ctx context.Context, req *runtimeapi.ContainerStatsRequest) (*runtimeapi.ContainerStatsResponse, error) {
	c, err := s.container(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	stats, err := s.stats(ctx, c)
	return &runtimeapi.ContainerStatsResponse{Stats: stats}, err
}

// ListContainerStats returns what the containers use that the filter lets through and that run.
func (s *Server) ListContainerStats(ctx context.Context, req *runtimeapi.ListContainerStatsRequest) (*runtimeapi.ListContainerStatsResponse, error) {
	f, resp := req.GetFilter(), &runtimeapi.ListContainerStatsResponse{}
	for _, c := range snapshot(s, s.containers) {
		state, _, _ := c.state()
		if state != runtimeapi.ContainerState_CONTAINER_RUNNING || (f.GetId() != "" && f.GetId() != c.record.ID) ||
			(f.GetPodSandboxId() != "" && f.GetPodSandboxId() != c.record.SandboxID) || !selects(f.GetLabelSelector(), c.config.GetLabels()) {
			continue
		}
		// One that ended meanwhile uses nothing any more.
		if stats, err := s.stats(ctx, c); err == nil {
			resp.Stats = append(resp.Stats, stats)
		}
	}
	return resp, nil
}

func (s *Server) stats(ctx context.Context, c *container) (*runtimeapi.ContainerStats, error) {
	now := time.Now().UnixNano()
	layer, err := usage(c.dir + "/upper")
	if err != nil {
		return nil, err
	}
	out := &runtimeapi.ContainerStats{
		Attributes: &runtimeapi.ContainerAttributes{
			Id: c.record.ID, Metadata: c.config.GetMetadata(), Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(),
		},
		WritableLayer: layer,
	}
	said, err := exec.CommandContext(ctx, s.config.Runc, "--root", s.path("runc"), "events", "--stats", c.record.ID).Output()
	if err != nil {
		// Not running: nothing but its files.
		return out, nil
	}
	var event struct {
		Data struct {
			CPU    struct{ Usage struct{ Total uint64 } }
			Memory struct{ Usage struct{ Usage uint64 } }
		}
	}
	if err := json.Unmarshal(said, &event); err != nil {
		return nil, err
	}
	out.Cpu = &runtimeapi.CpuUsage{Timestamp: now, UsageCoreNanoSeconds: &runtimeapi.UInt64Value{Value: event.Data.CPU.Usage.Total}}
	out.Memory = &runtimeapi.MemoryUsage{Timestamp: now, WorkingSetBytes: &runtimeapi.UInt64Value{Value: event.Data.Memory.Usage.Usage}}
	return out, nil
}
