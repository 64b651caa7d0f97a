package pods

import (
	"context"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// create pulls the image, creates the container and starts it. An error comes with
// the problem that the pod's status shows.
func (w *worker) create(ctx context.Context, r round, c *corev1.Container, attempt uint32) (problem, error) {
	ref, err := w.pull(ctx, r.pod, c)
	if err != nil {
		return problem{"ErrImagePull", err.Error()}, err
	}
	image, err := w.m.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
	if err != nil {
		return problem{"ImageInspectError", err.Error()}, err
	}
	config, err := w.m.containerConfig(ctx, r.pod, c, attempt, ref, image.GetImage())
	if err != nil {
		return problem{"CreateContainerConfigError", err.Error()}, err
	}
	// Kubernetes leaves the directories of logs to the kubelet.
	if err := os.MkdirAll(filepath.Join(w.m.logDirectory(r.pod), c.Name), 0o755); err != nil {
		return problem{"CreateContainerError", err.Error()}, err
	}
	made, err := w.m.Runtime.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{PodSandboxId: r.sandbox.id, Config: config, SandboxConfig: r.sandbox.config})
	if err != nil {
		return problem{"CreateContainerError", err.Error()}, err
	}
	if err := w.start(ctx, r.pod, c, made.GetContainerId()); err != nil {
		return problem{"RunContainerError", err.Error()}, err
	}
	return problem{}, nil
}

func (w *worker) pull(ctx context.Context, pod *corev1.Pod, c *corev1.Container) (string, error) {
	started := time.Now()
	ref, err := w.m.Puller.Ensure(ctx, pod, c)
	if err != nil {
		w.m.Events.Eventf(pod, corev1.EventTypeWarning, "Failed", "Failed to pull image %q: %v", c.Image, err)
		return "", err
	}
	w.m.Events.Eventf(pod, corev1.EventTypeNormal, "Pulled", "Image %q is on the node after %v", c.Image, time.Since(started).Round(time.Millisecond))
	return ref, nil
}

func (w *worker) start(ctx context.Context, pod *corev1.Pod, c *corev1.Container, id string) error {
	if _, err := w.m.Runtime.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: id}); err != nil {
		return err
	}
	w.m.Events.Eventf(pod, corev1.EventTypeNormal, "Started", "Started container %s", c.Name)
	return nil
}
