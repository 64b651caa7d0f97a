package runtime

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/supgroups/cri"
)

// ListPodSandbox lists the pods that the filter lets through, the oldest first.
func (s *Server) ListPodSandbox(_ context.Context, req *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	f, resp := req.GetFilter(), &runtimeapi.ListPodSandboxResponse{}
	for _, b := range snapshot(s, s.sandboxes) {
		st := b.status()
		if (f.GetId() == "" || f.GetId() == st.GetId()) && (f.GetState() == nil || f.GetState().GetState() == st.GetState()) && selects(f.GetLabelSelector(), st.GetLabels()) {
			resp.Items = append(resp.Items, &runtimeapi.PodSandbox{
				Id: st.GetId(), Metadata: st.GetMetadata(), State: st.GetState(), CreatedAt: st.GetCreatedAt(),
				Labels: st.GetLabels(), Annotations: st.GetAnnotations(),
			})
		}
	}
	slices.SortFunc(resp.Items, func(a, b *runtimeapi.PodSandbox) int { return cmp.Compare(a.GetCreatedAt(), b.GetCreatedAt()) })
	return resp, nil
}

// PodSandboxStatus returns one pod's status. A pod without a network that others can reach has no IP.
func (s *Server) PodSandboxStatus(_ context.Context, req *runtimeapi.PodSandboxStatusRequest) (*runtimeapi.PodSandboxStatusResponse, error) {
	b := s.sandbox(req.GetPodSandboxId())
	if b == nil {
		return nil, sandboxNotFound(req.GetPodSandboxId())
	}
	return &runtimeapi.PodSandboxStatusResponse{Status: b.status()}, nil
}

func (b *sandbox) status() *runtimeapi.PodSandboxStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := &runtimeapi.PodSandboxStatus{
		Id: b.record.ID, Metadata: b.config.GetMetadata(), CreatedAt: b.record.Created.UnixNano(),
		Labels: b.config.GetLabels(), Annotations: b.config.GetAnnotations(),
		Network: &runtimeapi.PodSandboxNetworkStatus{}, RuntimeHandler: b.record.Handler,
		Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: b.options()}},
	}
	if b.record.Stopped {
		st.State = runtimeapi.PodSandboxState_SANDBOX_NOTREADY
	}
	return st
}

// ListContainers lists the containers that the filter lets through, the oldest first.
func (s *Server) ListContainers(_ context.Context, req *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	f, resp := req.GetFilter(), &runtimeapi.ListContainersResponse{}
	for _, c := range snapshot(s, s.containers) {
		state, _, _ := c.state()
		if (f.GetId() == "" || f.GetId() == c.record.ID) && (f.GetPodSandboxId() == "" || f.GetPodSandboxId() == c.record.SandboxID) &&
			(f.GetState() == nil || f.GetState().GetState() == state) && selects(f.GetLabelSelector(), c.config.GetLabels()) {
			resp.Containers = append(resp.Containers, &runtimeapi.Container{
				Id: c.record.ID, PodSandboxId: c.record.SandboxID, Metadata: c.config.GetMetadata(), Image: c.config.GetImage(),
				ImageRef: c.record.ImageID, ImageId: c.record.ImageID, State: state, CreatedAt: c.record.Created.UnixNano(),
				Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(),
			})
		}
	}
	slices.SortFunc(resp.Containers, func(a, b *runtimeapi.Container) int { return cmp.Compare(a.GetCreatedAt(), b.GetCreatedAt()) })
	return resp, nil
}

// ContainerStatus returns one container's status; its user is what the low-level runtime was told.
func (s *Server) ContainerStatus(_ context.Context, req *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	c, err := s.container(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	state, started, exited := c.state()
	st := &runtimeapi.ContainerStatus{
		Id: c.record.ID, Metadata: c.config.GetMetadata(), State: state, CreatedAt: c.record.Created.UnixNano(),
		Image: c.config.GetImage(), ImageRef: c.record.ImageID, ImageId: c.record.ImageID,
		Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(), Mounts: c.config.GetMounts(),
		LogPath: s.logPath(c), User: cri.StatusUser(c.record.Process), StopSignal: c.config.GetStopSignal(),
		Resources: &runtimeapi.ContainerResources{Linux: c.config.GetLinux().GetResources()},
	}
	if started != nil {
		st.StartedAt = started.At.UnixNano()
	}
	if exited != nil {
		st.FinishedAt, st.ExitCode = exited.At.UnixNano(), int32(exited.Code)
		st.Reason, st.Message = reason(started, exited), exited.StartError
	}
	return &runtimeapi.ContainerStatusResponse{Status: st}, nil
}

// reason is the word that users find in a pod's status.
func reason(started *monitor.Started, exited *monitor.Exited) string {
	switch {
	case exited.Lost:
		return "Unknown"
	case started == nil:
		return "StartError"
	case exited.Code == 0:
		return "Completed"
	}
	return "Error"
}

// logPath is empty when the container has no log.
func (s *Server) logPath(c *container) string {
	b := s.sandbox(c.record.SandboxID)
	if b == nil || c.config.GetLogPath() == "" || b.config.GetLogDirectory() == "" {
		return ""
	}
	return filepath.Join(b.config.GetLogDirectory(), c.config.GetLogPath())
}

// snapshot copies the values of one of the server's maps under its lock.
func snapshot[T any](s *Server, m map[string]T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]T, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}
