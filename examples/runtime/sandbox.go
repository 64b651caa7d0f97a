package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/disk"
	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/examples/runtime/namespace"
)

const sandboxFile = "sandbox.json"

// sandbox is one pod: namespaces that its containers share, and files they see.
type sandbox struct {
	dir    string
	config *runtimeapi.PodSandboxConfig

	mu     sync.Mutex // guards record after creation
	record sandboxRecord
}

// sandboxRecord is what the disk knows of a sandbox. It is written last: a directory without it is half-made, and
// removed.
type sandboxRecord struct {
	ID      string           `json:"id"`
	Created time.Time        `json:"created"`
	Config  json.RawMessage  `json:"config"` // a PodSandboxConfig
	Stopped bool             `json:"stopped"`
	Handler string           `json:"handler,omitempty"` // the runtime handler
	Pause   *monitor.Started `json:"pause,omitempty"`   // init of the pod's PID namespace, if it has one
}

// RunPodSandbox makes a pod's namespaces: a network of its own with a loopback only, or the host's; IPC, hostname and
// PIDs as asked.
func (s *Server) RunPodSandbox(_ context.Context, req *runtimeapi.RunPodSandboxRequest) (*runtimeapi.RunPodSandboxResponse, error) {
	if err := errors.Join(checkSandbox(req), s.checkHandler(req.GetRuntimeHandler())); err != nil {
		return nil, err
	}
	id := newID()
	b := &sandbox{dir: s.path("sandboxes", id), config: req.GetConfig()}
	b.record.Handler = req.GetRuntimeHandler()
	if err := s.makeSandbox(b, id); err != nil {
		return nil, errors.Join(err, b.destroy())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sandboxes[id] = b
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: id}, nil
}

func checkSandbox(req *runtimeapi.RunPodSandboxRequest) error {
	if req.GetConfig().GetMetadata() == nil {
		return status.Error(codes.InvalidArgument, "pod sandbox config has no metadata")
	}
	return checkFields(req, sandboxTable, host{})
}

func (s *Server) makeSandbox(b *sandbox, id string) error {
	config, err := protojson.Marshal(b.config)
	if err != nil {
		return err
	}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return err
	}
	if err := b.writeFiles(); err != nil {
		return err
	}
	if err := namespace.Pin(b.dir, b.config.GetHostname(), b.kinds()...); err != nil {
		return err
	}
	b.record = sandboxRecord{ID: id, Created: time.Now(), Config: config, Handler: b.record.Handler}
	if b.options().GetPid() == runtimeapi.NamespaceMode_POD {
		if b.record.Pause, err = startPause(s.config.Monitor); err != nil {
			return err
		}
	}
	return b.save()
}

// kinds are the namespaces that the pod wants for itself. The hostname goes with the network, as everywhere.
func (b *sandbox) kinds() (kinds []namespace.Kind) {
	if b.options().GetNetwork() != runtimeapi.NamespaceMode_NODE {
		kinds = append(kinds, namespace.Network, namespace.UTS)
	}
	if b.options().GetIpc() != runtimeapi.NamespaceMode_NODE {
		kinds = append(kinds, namespace.IPC)
	}
	return kinds
}

func (b *sandbox) options() *runtimeapi.NamespaceOption {
	return b.config.GetLinux().GetSecurityContext().GetNamespaceOptions()
}

func (b *sandbox) save() error { return disk.WriteJSON(filepath.Join(b.dir, sandboxFile), b.record) }

// StopPodSandbox kills what runs in the pod and lets its namespaces go. It may be called again, also for a pod that is
// gone.
func (s *Server) StopPodSandbox(ctx context.Context, req *runtimeapi.StopPodSandboxRequest) (*runtimeapi.StopPodSandboxResponse, error) {
	b := s.sandbox(req.GetPodSandboxId())
	if b == nil {
		return &runtimeapi.StopPodSandboxResponse{}, nil
	}
	for _, c := range s.containersOf(b) {
		if err := s.stopContainer(ctx, c, 0); err != nil {
			return nil, err
		}
	}
	return &runtimeapi.StopPodSandboxResponse{}, b.stop()
}

func (b *sandbox) stop() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.record.Stopped {
		return nil
	}
	if b.record.Pause != nil {
		killExactly(*b.record.Pause)
	}
	if err := namespace.Unpin(b.dir); err != nil {
		return err
	}
	b.record.Stopped = true
	return b.save()
}

// RemovePodSandbox stops the pod, removes its containers and then everything about it. It may be called again.
func (s *Server) RemovePodSandbox(ctx context.Context, req *runtimeapi.RemovePodSandboxRequest) (*runtimeapi.RemovePodSandboxResponse, error) {
	b := s.sandbox(req.GetPodSandboxId())
	if b == nil {
		return &runtimeapi.RemovePodSandboxResponse{}, nil
	}
	for _, c := range s.containersOf(b) {
		if err := s.removeContainer(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := b.stop(); err != nil {
		return nil, err
	}
	if err := b.destroy(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sandboxes, b.record.ID)
	return &runtimeapi.RemovePodSandboxResponse{}, nil
}

// destroy removes the directory, the record first, so that a crash on the way leaves a half-made one.
func (b *sandbox) destroy() error {
	if err := os.Remove(filepath.Join(b.dir, sandboxFile)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return errors.Join(namespace.Unpin(b.dir), os.RemoveAll(b.dir))
}

// sandbox finds a pod by its ID; nil if there is none.
func (s *Server) sandbox(id string) *sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sandboxes[id]
}

func sandboxNotFound(id string) error {
	return status.Errorf(codes.NotFound, "pod sandbox %q not found", id)
}

func (s *Server) containersOf(b *sandbox) (out []*container) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.containers {
		if c.record.SandboxID == b.record.ID {
			out = append(out, c)
		}
	}
	return out
}

func newID() string {
	var b [32]byte
	// It never fails: crypto/rand ends the program first.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
