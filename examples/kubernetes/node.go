package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// Worker is a node of a cluster.
type Worker struct {
	// Name is the node's name.
	Name string

	options Node
	cluster *Cluster
	dir     string
	spaces  spaces
	number  int
	port    int // the kubelet's
	rig     *containerdrig.Rig
	kubelet *process.Process
}

// AddNode makes a node of which nothing runs yet.
func (c *Cluster) AddNode(n Node) (_ *Worker, err error) {
	if n.Name == "" {
		n.Name = DefaultNode
	}
	if c.Node(n.Name) != nil {
		return nil, fmt.Errorf("node %q: duplicate name", n.Name)
	}
	w := &Worker{Name: n.Name, options: n, cluster: c, number: len(c.workers) + 1, dir: filepath.Join(c.dir, n.Name)}
	for _, dir := range []string{"containerd", "kubelet", "logs"} {
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if err := c.spaces.addAddress(w.number, w.Address()); err != nil {
		return nil, err
	}
	if w.spaces, err = c.spaces.newMounts(w.hide); err != nil {
		return nil, err
	}
	c.atEnd(w.spaces.mnt.Close)
	if w.port, err = c.reserve(); err != nil {
		return nil, err
	}
	c.workers = append(c.workers, w)
	return w, nil
}

// Dir is the node's directory below the cluster's.
func (w *Worker) Dir() string { return w.dir }

// Address is the node's in the cluster's network.
func (w *Worker) Address() net.IP { return w.cluster.address(w.number) }

// Private is where a path on the node is on the machine, below Dir: one of [Node.Private], or below one.
func (w *Worker) Private(path string) string { return filepath.Join(w.dir, "private", path) }

// hide makes the node's mounts what they are to be.
func (w *Worker) hide() error {
	h, err := hide(filepath.Join(w.dir, "hidden"))
	if err != nil {
		return err
	}
	for _, path := range w.options.Private {
		if err := h.behind(path, w.Private(path)); err != nil {
			return err
		}
	}
	return nil
}

// Socket is the path of the CRI socket.
func (w *Worker) Socket() string { return filepath.Join(w.dir, "containerd", "c.sock") }

// URL is the kubelet's API, inside and outside.
func (w *Worker) URL() string { return "https://" + net.JoinHostPort(loopback, strconv.Itoa(w.port)) }

// Kubelet is the kubelet's process.
func (w *Worker) Kubelet() *process.Process { return w.kubelet }

// Do runs f on a thread in the node's mount and network namespaces; goroutines that f starts are not. With exec.Cmd's
// Start it starts a program on the node.
func (w *Worker) Do(f func() error) error { return w.spaces.do(f) }

// StartContainerd starts containerd and imports the images that [Cluster.Run] needs.
func (w *Worker) StartContainerd(ctx context.Context) error {
	config, err := containerdrig.Find(filepath.Join(w.dir, "containerd"))
	if err != nil {
		return err
	}
	config.Launch = w.spaces.launch
	if w.options.Containerd != nil {
		w.options.Containerd(&config)
	}
	if w.rig, err = containerdrig.Start(ctx, config); err != nil {
		return err
	}
	w.cluster.atEnd(w.stopContainerd)
	pause, err := testimage.Pause()
	if err != nil {
		return err
	}
	app, err := reporterImage()
	if err != nil {
		return err
	}
	return errors.Join(w.Import(ctx, containerdrig.PauseImage, pause), w.Import(ctx, Image, app))
}

// KillContainerd ends containerd at once. Its containers go on.
func (w *Worker) KillContainerd() { w.rig.Kill() }

// RestartContainerd ends containerd, unless it was killed, and starts it again. Its containers go on.
func (w *Worker) RestartContainerd(ctx context.Context) error { return w.rig.Restart(ctx) }

// ContainerdConfig is the path of containerd's configuration.
func (w *Worker) ContainerdConfig() string { return w.rig.ConfigFile() }

// Import stores an image on the node under the reference.
func (w *Worker) Import(ctx context.Context, reference string, image v1.Image) error {
	return w.rig.Import(ctx, reference, image)
}

// kubeletGrace is how long a kubelet may take to end.
const kubeletGrace = 10 * time.Second

// StartKubelet starts the kubelet, or what the node's options put in its place, and returns when its API answers and
// the API server knows the node.
func (w *Worker) StartKubelet(ctx context.Context) error {
	command, err := w.kubeletCommand()
	if err != nil {
		return err
	}
	if w.options.Kubelet != nil {
		w.options.Kubelet(&command)
	}
	covers := filepath.Join(w.dir, "hidden")
	if err := w.spaces.do(func() error { return coverSettings(covers) }); err != nil {
		return err
	}
	w.kubelet, err = w.cluster.run(ctx, w.spaces, "kubelet-"+w.Name, command, w.answers, kubeletGrace)
	return errors.Join(err, w.spaces.do(uncoverSettings))
}

// answers returns nil once the kubelet serves and has registered its node.
func (w *Worker) answers(ctx context.Context) error {
	if err := w.cluster.admin.wellAt(ctx, w.URL()+"/healthz"); err != nil {
		return err
	}
	_, err := w.cluster.client.CoreV1().Nodes().Get(ctx, w.Name, metav1.GetOptions{})
	return err
}

func (w *Worker) kubeletCommand() (Command, error) {
	user, err := w.cluster.Certificate("system:node:"+w.Name, "system:nodes")
	if err != nil {
		return Command{}, err
	}
	if w.options.Reference != nil {
		return w.referenceCommand(user.Kubeconfig)
	}
	config, err := w.kubeletConfig()
	if err != nil {
		return Command{}, err
	}
	if w.options.Config != nil {
		w.options.Config(&config)
	}
	text, err := yaml.Marshal(config)
	if err != nil {
		return Command{}, err
	}
	file := filepath.Join(w.dir, "kubelet.yaml")
	return Command{Program: "kubelet", Flags: []string{
		"--config=" + file, "--kubeconfig=" + user.Kubeconfig, "--hostname-override=" + w.Name, "--node-ip=" + w.Address().String(),
		"--root-dir=" + filepath.Join(w.dir, "kubelet"), "--cert-dir=" + filepath.Join(w.dir, "kubelet", "pki"),
	}}, os.WriteFile(file, text, 0o644)
}

// kubeletConfig is what works without systemd, swap limits, iptables and the right to divide the machine.
func (w *Worker) kubeletConfig() (kubeletconfig.KubeletConfiguration, error) {
	var config kubeletconfig.KubeletConfiguration
	serving, err := w.cluster.authority.Server(loopback, "localhost", w.Name, w.Address().String())
	certificate, key, err := writePair(w.dir, "serving", serving, err)
	if err != nil {
		return config, err
	}
	config.APIVersion, config.Kind = kubeletconfig.SchemeGroupVersion.String(), "KubeletConfiguration"
	config.Address, config.Port, config.HealthzPort = "0.0.0.0", int32(w.port), new(int32)
	config.TLSCertFile, config.TLSPrivateKeyFile = certificate, key
	config.Authentication.X509.ClientCAFile = w.cluster.AuthorityFile()
	config.Authentication.Webhook.Enabled, config.Authentication.Anonymous.Enabled = pointer(true), pointer(false)
	config.Authorization.Mode = kubeletconfig.KubeletAuthorizationModeWebhook
	config.ContainerRuntimeEndpoint = "unix://" + w.Socket()
	config.CgroupDriver, config.CgroupsPerQOS, config.FailCgroupV1 = "cgroupfs", pointer(false), pointer(false)
	config.EnforceNodeAllocatable = []string{"none"}
	config.FailSwapOn, config.MakeIPTablesUtilChains, config.LocalStorageCapacityIsolation = pointer(false), pointer(false), pointer(false)
	config.EvictionHard = map[string]string{"nodefs.available": "1%", "imagefs.available": "1%", "memory.available": "10Mi"}
	config.ImageGCHighThresholdPercent = pointer(int32(100))
	// A kubelet with little to do must not wait for its turn to ask about its callers.
	config.KubeAPIQPS, config.KubeAPIBurst = pointer(int32(1000)), 2000
	config.PodLogsDir, config.VolumePluginDir = filepath.Join(w.dir, "logs"), filepath.Join(w.dir, "kubelet", "volume-plugins")
	return config, nil
}

func pointer[T any](v T) *T { return &v }
