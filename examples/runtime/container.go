package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/disk"
	"github.com/lanyard-dev/lanyard/examples/runtime/image"
	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

const (
	containerFile = "container.json"
	bundleFile    = "config.json" // the name that the OCI specification gives
)

// container is one container. Its directory is its OCI bundle and its monitor's directory, too.
type container struct {
	dir    string
	record containerRecord // never changes
	config *runtimeapi.ContainerConfig
	env    *environment

	op      sync.Mutex // one start or removal at a time
	removed bool       // guarded by op

	mu      sync.Mutex
	started *monitor.Started
	exited  *monitor.Exited
	ended   chan struct{} // closed when exited is set
}

// containerRecord is what the disk knows of a container beyond its monitor's files. It is written last: a directory
// without it is half-made, and removed.
type containerRecord struct {
	ID         string          `json:"id"`
	SandboxID  string          `json:"sandboxID"`
	Created    time.Time       `json:"created"`
	Config     json.RawMessage `json:"config"` // a ContainerConfig
	ImageID    string          `json:"imageID"`
	Layers     []string        `json:"layers"`
	StopSignal string          `json:"stopSignal,omitempty"`
	Process    *specs.Process  `json:"process"` // of the container, without its environment; exec sessions start from it
	Env        [][]byte        `json:"env"`     // of the process; bytes, because JSON's strings cannot hold all of them
}

// CreateContainer mounts the container's root file system and writes its OCI bundle. Nothing runs yet.
func (s *Server) CreateContainer(_ context.Context, req *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	b := s.sandbox(req.GetPodSandboxId())
	if b == nil {
		return nil, sandboxNotFound(req.GetPodSandboxId())
	}
	h := host{sandbox: b.config, rootless: rootless(), capabilities: ownCapabilities()}
	if err := checkFields(req, containerTable, h); err != nil {
		return nil, err
	}
	if req.GetConfig().GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "container config has no metadata")
	}
	i, err := s.images.Find(req.GetConfig().GetImage().GetImage())
	if err != nil {
		return nil, err
	}
	c, err := s.newContainer(b, req.GetConfig(), i)
	if err != nil {
		return nil, err
	}
	defer s.images.Hold(c.record.Layers)()
	if err := s.makeContainer(b, c, i); err != nil {
		return nil, errors.Join(err, c.destroy())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.containers[c.record.ID] = c
	return &runtimeapi.CreateContainerResponse{ContainerId: c.record.ID}, nil
}

func (s *Server) newContainer(b *sandbox, config *runtimeapi.ContainerConfig, i image.Image) (*container, error) {
	raw, err := protojson.Marshal(config)
	if err != nil {
		return nil, err
	}
	id := newID()
	return &container{
		dir: s.path("containers", id), config: config, ended: make(chan struct{}),
		record: containerRecord{
			ID: id, SandboxID: b.record.ID, Created: time.Now(), Config: raw,
			ImageID: i.ID, Layers: i.Layers, StopSignal: stopSignal(config, i),
		},
	}, nil
}

func (s *Server) makeContainer(b *sandbox, c *container, i image.Image) error {
	layers, err := s.images.LayerDirs(c.record.Layers)
	if err != nil {
		return err
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return err
	}
	if err := c.mountRoot(layers); err != nil {
		return err
	}
	spec, err := s.spec(b, c, i)
	if err != nil {
		return err
	}
	process := *spec.Process
	process.Env = nil
	c.record.Process, c.record.Env = &process, toBytes(spec.Process.Env)
	c.env = newEnvironment(s.config, spec.Process.Env)
	if err := c.writeRaw(spec.Process, rawEnvFile); err != nil {
		return err
	}
	if err := disk.WriteJSON(filepath.Join(c.dir, bundleFile), spec); err != nil {
		return err
	}
	return disk.WriteJSON(filepath.Join(c.dir, containerFile), c.record)
}

// layersInUse are the layers under the root file systems of all containers.
func (s *Server) layersInUse() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[string]bool{}
	for _, c := range s.containers {
		for _, l := range c.record.Layers {
			used[l] = true
		}
	}
	return used
}

// container finds a container by its ID, or returns the gRPC error that says it is not there.
func (s *Server) container(id string) (*container, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.containers[id]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "container %q not found", id)
	}
	return c, nil
}

func (s *Server) forget(c *container) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.containers, c.record.ID)
}

// destroy removes the container's files, the record first, so that a crash on the way leaves a half-made one.
func (c *container) destroy() error {
	if err := os.Remove(filepath.Join(c.dir, containerFile)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return errors.Join(c.unmountRoot(), os.RemoveAll(c.dir))
}

// state is the container's state as CRI has it, with the facts behind it.
func (c *container) state() (runtimeapi.ContainerState, *monitor.Started, *monitor.Exited) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.exited != nil:
		return runtimeapi.ContainerState_CONTAINER_EXITED, c.started, c.exited
	case c.started != nil:
		return runtimeapi.ContainerState_CONTAINER_RUNNING, c.started, nil
	}
	return runtimeapi.ContainerState_CONTAINER_CREATED, nil, nil
}

func (c *container) setStarted(at monitor.Started) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = &at
}

// setExited may be told more than once; the first word counts.
func (c *container) setExited(e monitor.Exited) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exited == nil {
		c.exited = &e
		close(c.ended)
	}
}
