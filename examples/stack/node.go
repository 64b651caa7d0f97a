package stack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/kubelet"
	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
)

// RuntimeKind is the runtime under a kubelet.
type RuntimeKind string

// The runtimes that a node can have.
const (
	Lanyard        RuntimeKind = ""                // the reference runtime
	OldLanyard     RuntimeKind = "old"             // the reference runtime, playing one without ExecRequest.envs
	MixLanyard     RuntimeKind = "mix"             // the reference runtime, with a second runtime handler that plays one, OldHandler
	Containerd     RuntimeKind = "containerd"      // a real containerd
	ContainerdEnvs RuntimeKind = "containerd-envs" // a real containerd with our modules in its exec path
)

// OldHandler is the second runtime handler of MixLanyard.
const OldHandler = "old"

// Node says what one node is like.
type Node struct {
	Name    string
	Runtime RuntimeKind
	// Configure changes the kubelet's configuration before it starts; nil leaves it.
	Configure func(*kubelet.Config)
}

// runningNode is a node of a running stack.
type runningNode struct {
	Node
	dir     string
	kubelet *process.Process
	runtime *process.Process   // nil on containerd
	rig     *containerdrig.Rig // nil on ours
	socket  string
	config  kubelet.Config
}

// startNode starts the runtime and then the kubelet.
func (s *Stack) startNode(ctx context.Context, n Node) (*runningNode, error) {
	r := &runningNode{Node: n, dir: filepath.Join(s.options.Dir, n.Name)}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return r, err
	}
	if err := r.startRuntime(ctx, s.pause); err != nil {
		return r, err
	}
	config, err := s.kubeletConfig(r)
	if err != nil {
		return r, err
	}
	r.config = config
	return r, r.startKubelet(ctx)
}

func (r *runningNode) startRuntime(ctx context.Context, pause imageFunc) error {
	if r.Runtime == Containerd || r.Runtime == ContainerdEnvs {
		return r.startContainerd(ctx, pause)
	}
	program, err := parts.Find("lanyard-runtime")
	if err != nil {
		return err
	}
	r.socket = filepath.Join(r.dir, "runtime.sock")
	args := []string{"-root", filepath.Join(r.dir, "runtime"), "-socket", r.socket, "-node", r.Name}
	switch r.Runtime {
	case OldLanyard:
		args = append(args, "-play-old")
	case MixLanyard:
		args = append(args, "-old-handler", OldHandler)
	}
	r.runtime = process.New(process.Options{
		Name: "runtime of " + r.Name, Path: program, Args: args,
		Log: filepath.Join(r.dir, "runtime.log"), Ready: answersCRI(r.socket),
	})
	return r.runtime.Start(ctx)
}

func (r *runningNode) startContainerd(ctx context.Context, pause imageFunc) error {
	dir := filepath.Join(r.dir, "containerd")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	config, err := containerdrig.Find(dir)
	if err != nil {
		return err
	}
	if r.Runtime == ContainerdEnvs {
		if config.Containerd, err = parts.Find("containerd-envs"); err != nil {
			return err
		}
	}
	if r.rig, err = containerdrig.Start(ctx, config); err != nil {
		return err
	}
	r.socket = r.rig.Socket()
	image, err := pause()
	if err != nil {
		return err
	}
	return r.rig.Import(ctx, containerdrig.PauseImage, image)
}

func (s *Stack) kubeletConfig(r *runningNode) (kubelet.Config, error) {
	kubeconfig, err := s.User("system:node:"+r.Name, "system:nodes")
	if err != nil {
		return kubelet.Config{}, err
	}
	serving, err := s.authority.Server("127.0.0.1", "localhost", r.Name)
	if err != nil {
		return kubelet.Config{}, err
	}
	certificate, key, err := writePair(r.dir, "serving", serving)
	if err != nil {
		return kubelet.Config{}, err
	}
	address, err := freePort()
	config := kubelet.Config{
		NodeName: r.Name, Kubeconfig: kubeconfig, RootDirectory: filepath.Join(r.dir, "kubelet"),
		RuntimeEndpoint: "unix://" + r.socket, Address: address,
		TLSCertFile: certificate, TLSPrivateKeyFile: key, ClientCAFile: s.authorityFile,
		TrustedExecUsers: []string{kubeletClientUser},
		FeatureGates:     map[string]bool{},
	}
	config.SyncFrequency.Duration = 100 * time.Millisecond
	config.RestartBackoff.Duration = time.Second
	if s.options.ExecGates {
		config.FeatureGates["ExecEnvVar"] = true
	}
	if r.Configure != nil {
		r.Configure(&config)
	}
	return config, err
}

// startKubelet writes the configuration as it is now and starts the kubelet.
func (r *runningNode) startKubelet(ctx context.Context) error {
	program, err := parts.Find("lanyard-kubelet")
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(r.config)
	if err != nil {
		return err
	}
	file := filepath.Join(r.dir, "kubelet.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	r.kubelet = process.New(process.Options{
		Name: "kubelet " + r.Name, Path: program, Args: []string{"--config", file},
		Log: filepath.Join(r.dir, "kubelet.log"), Ready: answersTLS(r.config.Address),
	})
	return r.kubelet.Start(ctx)
}

// awaitEmpty waits until the kubelet has removed every pod of the node, also those
// that an API server which was started anew no longer knows.
func (r *runningNode) awaitEmpty(ctx context.Context) error {
	if r.kubelet == nil || !r.kubelet.Alive() {
		return nil
	}
	conn, err := grpc.NewClient("unix://"+r.socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	client := runtimeapi.NewRuntimeServiceClient(conn)
	return poll(ctx, "node "+r.Name+" to be empty", func() (bool, error) {
		list, err := client.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{
			LabelSelector: map[string]string{pods.LabelNode: r.Name},
		}})
		return err == nil && len(list.GetItems()) == 0, err
	})
}

// stop ends the kubelet and the runtime; pods were removed before.
func (r *runningNode) stop() error {
	var errs []error
	for _, p := range []*process.Process{r.kubelet, r.runtime} {
		if p != nil && !p.Stop(stopGrace) {
			errs = append(errs, fmt.Errorf("%s did not stop within %v", r.Name, stopGrace))
		}
	}
	if r.rig != nil {
		errs = append(errs, r.rig.Stop())
	}
	return errors.Join(errs...)
}

// stopGrace is how long a component has to end by itself.
const stopGrace = 15 * time.Second

func answersTLS(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // only whether it answers
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

func answersCRI(socket string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = runtimeapi.NewRuntimeServiceClient(conn).Version(ctx, &runtimeapi.VersionRequest{})
		return err
	}
}
