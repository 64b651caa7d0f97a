package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// Image is the image that pods get which name none. It holds lanyard-reporter, and every node has it.
const Image = "localhost/lanyard/reporter:1"

func reporterImage() (v1.Image, error) {
	reporter, err := parts.Find("lanyard-reporter")
	if err != nil {
		return nil, err
	}
	return testimage.Build(testimage.Spec{Reporter: reporter, Config: v1.Config{
		Entrypoint: []string{testimage.Program}, Cmd: []string{"pause"}, Env: []string{"PATH=/"},
	}})
}

// Run creates the pod as [Cluster.Create] does and waits until it is ready or over; it returns the pod as it is then.
func (c *Cluster) Run(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	created, err := c.Create(ctx, pod)
	if err != nil {
		return nil, err
	}
	return c.AwaitPod(ctx, created)
}

// Create creates the pod. What the pod does not say is filled in: a generated name, the default namespace, the first
// node, one container "app" of [Image] that pauses, the node's network, a toleration of everything, the end within a
// second.
func (c *Cluster) Create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return c.client.CoreV1().Pods(namespaceOf(pod)).Create(ctx, c.complete(pod), metav1.CreateOptions{})
}

func namespaceOf(pod *corev1.Pod) string {
	if pod.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return pod.Namespace
}

func (c *Cluster) complete(pod *corev1.Pod) *corev1.Pod {
	p := pod.DeepCopy()
	if p.Name == "" && p.GenerateName == "" {
		p.GenerateName = "pod-"
	}
	if p.Spec.NodeName == "" && len(c.workers) > 0 {
		p.Spec.NodeName = c.workers[0].Name
	}
	if len(p.Spec.Containers) == 0 {
		p.Spec.Containers = []corev1.Container{{}}
	}
	for i := range p.Spec.Containers {
		container := &p.Spec.Containers[i]
		if container.Name == "" {
			container.Name = "app"
		}
		if container.Image == "" {
			container.Image, container.ImagePullPolicy = Image, corev1.PullNever
		}
	}
	p.Spec.HostNetwork = true
	if p.Spec.Tolerations == nil {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	if p.Spec.TerminationGracePeriodSeconds == nil {
		p.Spec.TerminationGracePeriodSeconds = pointer(int64(1))
	}
	return p
}

// AwaitPod waits until the pod is ready, or has come to an end that readiness will not follow, and returns it.
func (c *Cluster) AwaitPod(ctx context.Context, pod *corev1.Pod) (last *corev1.Pod, err error) {
	err = Await(ctx, "pod "+pod.Name, func(ctx context.Context) (bool, error) {
		if last, err = c.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		if last.Status.Phase == corev1.PodFailed || last.Status.Phase == corev1.PodSucceeded {
			return true, nil
		}
		for _, condition := range last.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return true, nil
			}
		}
		return false, fmt.Errorf("phase %s: %s", last.Status.Phase, waitingFor(last))
	})
	return last, err
}

func waitingFor(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if w := status.State.Waiting; w != nil {
			return status.Name + ": " + w.Reason + ": " + w.Message
		}
	}
	return pod.Status.Message
}

// Remove deletes the pod and waits until it is gone. A pod that is not there is no error.
func (c *Cluster) Remove(ctx context.Context, pod *corev1.Pod) error {
	pods := c.client.CoreV1().Pods(namespaceOf(pod))
	if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return Await(ctx, "end of pod "+pod.Name, func(ctx context.Context) (bool, error) {
		_, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

const (
	awaitPoll     = 50 * time.Millisecond
	awaitPatience = 2 * time.Minute
)

// Await asks until the answer is true, for two minutes at most. The error of an impatient end says what was awaited and
// why it was not so, by the last error that done returned.
func Await(ctx context.Context, what string, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, awaitPatience)
	defer cancel()
	var last error
	for {
		ok, err := done(ctx)
		if ok {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, errors.Join(ctx.Err(), last))
		case <-time.After(awaitPoll):
		}
	}
}
