package runtime

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/image"
)

// spec makes the OCI specification of a container whose root file system is mounted.
func (s *Server) spec(b *sandbox, c *container, i image.Image) (*specs.Spec, error) {
	process, err := s.process(b, c, i)
	if err != nil {
		return nil, err
	}
	mounts, err := mounts(b, c)
	if err != nil {
		return nil, err
	}
	linux, err := s.linux(b, c)
	if err != nil {
		return nil, err
	}
	return &specs.Spec{
		Version: specs.Version,
		Root:    &specs.Root{Path: c.rootfs(), Readonly: c.config.GetLinux().GetSecurityContext().GetReadonlyRootfs()},
		Process: process,
		Mounts:  mounts,
		Linux:   linux,
	}, nil
}

// process is the container's first process.
func (s *Server) process(b *sandbox, c *container, i image.Image) (*specs.Process, error) {
	sc := c.config.GetLinux().GetSecurityContext()
	user, err := s.config.Identify(c.rootfs(), i.Config.User, sc)
	if err != nil {
		return nil, err
	}
	env, err := containerEnv(b, c.config, i)
	if err != nil {
		return nil, err
	}
	score, err := oomScore(c.config.GetLinux().GetResources().GetOomScoreAdj())
	if err != nil {
		return nil, err
	}
	return &specs.Process{
		Terminal:        c.config.GetTty(),
		User:            user,
		Args:            args(c.config, i),
		Env:             env,
		Cwd:             workingDir(c.config, i),
		Capabilities:    capabilities(sc),
		NoNewPrivileges: sc.GetNoNewPrivs(),
		OOMScoreAdj:     &score,
	}, nil
}

// args is the command line: what the pod does not say, the image does, but a command of the pod's takes none of the
// image's arguments.
func args(config *runtimeapi.ContainerConfig, i image.Image) []string {
	command, rest := config.GetCommand(), config.GetArgs()
	if len(command) == 0 {
		command = i.Config.Entrypoint
		if len(rest) == 0 {
			rest = i.Config.Cmd
		}
	}
	return append(append([]string{}, command...), rest...)
}

func workingDir(config *runtimeapi.ContainerConfig, i image.Image) string {
	for _, dir := range []string{config.GetWorkingDir(), i.Config.WorkingDir} {
		if dir != "" {
			return filepath.Join("/", dir)
		}
	}
	return "/"
}

// oomScore is the asked score, but not below the runtime's own: lowering it needs a privilege that it may not have.
func oomScore(asked int64) (int, error) {
	b, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return 0, err
	}
	own, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return max(own, int(asked)), err
}

// stopSignal is the signal that asks the container to end: the pod's, the image's, or SIGTERM.
func stopSignal(config *runtimeapi.ContainerConfig, i image.Image) string {
	if signal := config.GetStopSignal(); signal != runtimeapi.Signal_SIGNAL_RUNTIME_DEFAULT {
		return strings.TrimPrefix(signal.String(), "SIGNAL_")
	}
	if i.Config.StopSignal != "" {
		return i.Config.StopSignal
	}
	return "SIGTERM"
}
