package suite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
)

// untilDone makes a call that makes something in the runtime. It goes on when ctx is cancelled, so that what it makes
// is known when it is time to remove it; only a deadline ends it.
func untilDone(ctx context.Context, call func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(DefaultTimeout)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	return call(ctx)
}

// namespaces let a runtime without a pod network run the pod; the container's processes have IDs of their own, so that
// its first one is 1.
func namespaces() *runtimeapi.NamespaceOption {
	return &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE, Pid: runtimeapi.NamespaceMode_CONTAINER}
}

func (n *node) runPod(ctx context.Context) error {
	n.podSpec = &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "criconformance-" + n.run, Uid: n.run, Namespace: "criconformance"},
		Labels:   n.labels(),
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{NamespaceOptions: namespaces()},
		},
	}
	return untilDone(ctx, func(ctx context.Context) error {
		resp, err := n.client.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: n.podSpec, RuntimeHandler: n.options.Handler})
		n.pod = resp.GetPodSandboxId()
		return err
	})
}

func (n *node) runFixture(ctx context.Context) (err error) {
	_, container := baseline()
	var envs []*runtimeapi.KeyValue
	for _, e := range container {
		envs = append(envs, &runtimeapi.KeyValue{Key: e.Name, Value: []byte(e.Value.Reveal())})
	}
	n.fixture, err = n.start(ctx, images.Base, &runtimeapi.LinuxContainerSecurityContext{}, envs...)
	return err
}

// start creates a container and starts it. If that fails, the container is gone.
func (n *node) start(ctx context.Context, tag string, sc *runtimeapi.LinuxContainerSecurityContext, envs ...*runtimeapi.KeyValue) (id string, err error) {
	sc.NamespaceOptions = namespaces()
	config := &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "c-" + rand.Text()},
		Image:    &runtimeapi.ImageSpec{Image: n.reference(tag)},
		Command:  pauseCommand(),
		Envs:     envs,
		Labels:   n.labels(),
		Linux:    &runtimeapi.LinuxContainerConfig{SecurityContext: sc},
	}
	err = untilDone(ctx, func(ctx context.Context) error {
		resp, err := n.client.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{PodSandboxId: n.pod, Config: config, SandboxConfig: n.podSpec})
		id = resp.GetContainerId()
		return err
	})
	if err != nil {
		return "", fmt.Errorf("CreateContainer: %w", err)
	}
	if _, err := n.client.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: id}); err != nil {
		n.remove(id)
		return "", fmt.Errorf("StartContainer: %w", err)
	}
	return id, nil
}

// remove removes a container that a case no longer needs. If that fails, it goes with its pod.
func (n *node) remove(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), n.options.Timeout)
	defer cancel()
	_, err := n.client.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: id})
	_, again := n.client.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: id})
	_ = errors.Join(err, again)
}
