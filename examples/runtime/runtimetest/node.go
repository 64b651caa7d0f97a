package runtimetest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// patience bounds every single call of a test.
const patience = 60 * time.Second

// Node is a CRI runtime as a client sees it.
type Node struct {
	runtimeapi.RuntimeServiceClient
	Images runtimeapi.ImageServiceClient
}

// Dial connects to the CRI socket until the test ends.
func Dial(t testing.TB, socket string) *Node {
	t.Helper()
	// A runtime that was killed in a test is soon back.
	again := backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1.5, MaxDelay: 50 * time.Millisecond}
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &Node{runtimeapi.NewRuntimeServiceClient(conn), runtimeapi.NewImageServiceClient(conn)}
}

// Context ends with the test, or when the test has lost patience.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// Pull pulls an image and returns its ID.
func (n *Node) Pull(t testing.TB, ref string) string {
	t.Helper()
	resp, err := n.Images.PullImage(Context(t), &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
	if err != nil {
		t.Fatalf("PullImage(%s): %v", ref, err)
	}
	return resp.GetImageRef()
}

// Pod is a pod sandbox of a test.
type Pod struct {
	*Node
	ID     string
	Config *runtimeapi.PodSandboxConfig

	removed bool
}

// RunPod runs a pod on the host's network, with containers that have their own PIDs, and removes it with the test. The
// changes are made to its configuration first.
func (n *Node) RunPod(t testing.TB, change ...func(*runtimeapi.PodSandboxConfig)) *Pod {
	t.Helper()
	c := &runtimeapi.PodSandboxConfig{
		Metadata:     &runtimeapi.PodSandboxMetadata{Name: "pod-" + unique(), Uid: unique(), Namespace: "test"},
		LogDirectory: t.TempDir(),
		Linux: &runtimeapi.LinuxPodSandboxConfig{SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{
			NamespaceOptions: &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE, Pid: runtimeapi.NamespaceMode_CONTAINER},
		}},
	}
	for _, f := range change {
		f(c)
	}
	resp, err := n.RunPodSandbox(Context(t), &runtimeapi.RunPodSandboxRequest{Config: c})
	if err != nil {
		t.Fatalf("RunPodSandbox: %v", err)
	}
	p := &Pod{Node: n, ID: resp.GetPodSandboxId(), Config: c}
	t.Cleanup(func() { p.Remove(t) })
	return p
}

// Remove stops and removes the pod with its containers, once.
func (p *Pod) Remove(t testing.TB) {
	t.Helper()
	if p.removed {
		return
	}
	p.removed = true
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := p.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: p.ID}); err != nil {
		t.Errorf("StopPodSandbox: %v", err)
	}
	if _, err := p.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: p.ID}); err != nil {
		t.Errorf("RemovePodSandbox: %v", err)
	}
}

// Container is a container of a test.
type Container struct {
	*Pod
	ID     string
	Config *runtimeapi.ContainerConfig
}

// Create creates a container of the image with the command; the changes are made to its configuration first.
func (p *Pod) Create(t testing.TB, image string, command []string, change ...func(*runtimeapi.ContainerConfig)) *Container {
	t.Helper()
	c, err := p.TryCreate(t, image, command, change...)
	if err != nil {
		t.Fatalf("CreateContainer: %v", err)
	}
	return c
}

// TryCreate is Create for containers that may not come to be.
func (p *Pod) TryCreate(t testing.TB, image string, command []string, change ...func(*runtimeapi.ContainerConfig)) (*Container, error) {
	t.Helper()
	name := "c-" + unique()
	c := &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: name}, Image: &runtimeapi.ImageSpec{Image: image}, Command: command,
		LogPath: name + ".log",
		Linux: &runtimeapi.LinuxContainerConfig{SecurityContext: &runtimeapi.LinuxContainerSecurityContext{
			NamespaceOptions: p.Config.GetLinux().GetSecurityContext().GetNamespaceOptions(),
		}},
	}
	for _, f := range change {
		f(c)
	}
	resp, err := p.CreateContainer(Context(t), &runtimeapi.CreateContainerRequest{PodSandboxId: p.ID, Config: c, SandboxConfig: p.Config})
	return &Container{p, resp.GetContainerId(), c}, err
}

// Start creates a container and starts it.
func (p *Pod) Start(t testing.TB, image string, command []string, change ...func(*runtimeapi.ContainerConfig)) *Container {
	t.Helper()
	c := p.Create(t, image, command, change...)
	if err := c.Start(t); err != nil {
		t.Fatalf("StartContainer: %v", err)
	}
	return c
}

// Start starts a created container.
func (c *Container) Start(t testing.TB) error {
	t.Helper()
	_, err := c.StartContainer(Context(t), &runtimeapi.StartContainerRequest{ContainerId: c.ID})
	return err
}

// Status returns the container's status.
func (c *Container) Status(t testing.TB) *runtimeapi.ContainerStatus {
	t.Helper()
	resp, err := c.ContainerStatus(Context(t), &runtimeapi.ContainerStatusRequest{ContainerId: c.ID})
	if err != nil {
		t.Fatalf("ContainerStatus: %v", err)
	}
	return resp.GetStatus()
}

// Ended waits until the container has exited and returns its status.
func (c *Container) Ended(t testing.TB) *runtimeapi.ContainerStatus {
	t.Helper()
	var st *runtimeapi.ContainerStatus
	Eventually(t, "container exits", func() bool {
		st = c.Status(t)
		return st.GetState() == runtimeapi.ContainerState_CONTAINER_EXITED
	})
	return st
}

// Stop stops the container with so many seconds of grace.
func (c *Container) Stop(t testing.TB, grace int64) {
	t.Helper()
	if _, err := c.StopContainer(Context(t), &runtimeapi.StopContainerRequest{ContainerId: c.ID, Timeout: grace}); err != nil {
		t.Fatalf("StopContainer: %v", err)
	}
}

// LogFile is the path of the container's log.
func (c *Container) LogFile() string {
	return filepath.Join(c.Pod.Config.GetLogDirectory(), c.Config.GetLogPath())
}

// Eventually asks until the answer is yes, and fails the test when it has lost patience.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	ctx := Context(t)
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("still not so: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
