package puller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
)

// EventReason is the reason of the event on a pod for which a provider that should
// have given credentials did not. The pull goes on with those of the others.
const EventReason = "FailedToRetrieveImagePullCredentials"

// Options is what a Puller works with.
type Options struct {
	Images runtimeapi.ImageServiceClient
	// Events takes what is said about pods.
	Events record.EventRecorder
	// Pool has the credential providers; nil pulls without credentials.
	Pool *provider.Pool
	// Accounts finds service accounts; needed with Records.
	Accounts provider.AccountSource
	// Records remembers who pulled what; nil lets every pod use every image on the node.
	Records *pulled.Store
	// Policy says for which images Records count.
	Policy pulled.Policy
	// Log takes what plugins write to standard error when they fail; nil drops it.
	Log *slog.Logger
}

// Puller pulls images for pods. It is safe for concurrent use.
type Puller struct{ Options }

// New returns a puller.
func New(o Options) *Puller {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Puller{o}
}

var _ pods.Puller = (*Puller)(nil)

// Ensure returns the ID of the container's image, pulled where the pull policy asks
// for it, where the node does not have the image, and where the records do not let
// the pod use it. The error unwraps to pods.ErrImageNeverPull where the policy then
// forbids the pull.
func (p *Puller) Ensure(ctx context.Context, pod *corev1.Pod, container *corev1.Container) (string, error) {
	image, err := credprovider.ParseImage(container.Image)
	if err != nil {
		return "", err
	}
	policy := pods.PullPolicy(container)
	if policy == corev1.PullAlways {
		return p.pull(ctx, pod, container.Image, image.Repository)
	}
	ref, err := p.present(ctx, container.Image)
	if err != nil {
		return "", err
	}
	must, err := p.mustPull(ctx, pod, container.Image, ref)
	if err != nil {
		return "", err
	}
	switch {
	case !must:
		return ref, nil
	case policy == corev1.PullNever && ref != "":
		return "", fmt.Errorf("image %q is on the node, and not for this pod: %w", container.Image, pods.ErrImageNeverPull)
	case policy == corev1.PullNever:
		return "", fmt.Errorf("image %q: %w", container.Image, pods.ErrImageNeverPull)
	}
	return p.pull(ctx, pod, container.Image, image.Repository)
}

// Forget drops the tokens that were got for a pod.
func (p *Puller) Forget(pod types.UID) {
	if p.Pool != nil {
		p.Pool.Forget(string(pod))
	}
}

// present returns the ID of an image on the node, "" where it is not there.
func (p *Puller) present(ctx context.Context, image string) (string, error) {
	status, err := p.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: image}})
	return status.GetImage().GetId(), err
}

// pull tries the credentials in their order, and none where there are none.
func (p *Puller) pull(ctx context.Context, pod *corev1.Pod, image, repository string) (string, error) {
	credentials := p.credentials(ctx, pod, repository)
	if err := p.begin(image); err != nil {
		return "", err
	}
	if len(credentials) == 0 {
		ref, err := p.fetch(ctx, image, nil)
		if err != nil {
			return "", errors.Join(err, p.abandon(image))
		}
		return ref, p.complete(image, ref, pulled.Access{Everyone: true})
	}
	var failed []error
	for _, c := range credentials {
		ref, err := p.fetch(ctx, image, &runtimeapi.AuthConfig{Username: c.Username, Password: c.Password.Reveal()})
		if err == nil {
			return ref, p.complete(image, ref, pulled.From(c))
		}
		failed = append(failed, fmt.Errorf("with credentials of %s: %w", c.Provider, err))
	}
	return "", errors.Join(append(failed, p.abandon(image))...)
}

// credentials returns those there are, and says in an event why there are no more.
func (p *Puller) credentials(ctx context.Context, pod *corev1.Pod, repository string) []credprovider.Credential {
	if p.Pool == nil {
		return nil
	}
	found, err := p.Pool.Lookup(ctx, repository, provider.Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), ServiceAccount: pod.Spec.ServiceAccountName,
	})
	if err != nil {
		p.Events.Eventf(pod, corev1.EventTypeWarning, EventReason, "%v", err)
		p.logPlugins(pod, err)
	}
	return found
}

// logPlugins writes what failed plugins said, one by one. It is for the node's operator and not in the event, because
// the library answers for the token that it cuts out, and the plugin for the rest.
func (p *Puller) logPlugins(pod *corev1.Pod, err error) {
	if failed, ok := err.(*plugin.Error); ok {
		p.Log.Warn("credential provider plugin failed", "namespace", pod.Namespace, "pod", pod.Name,
			"provider", failed.Provider, "image", failed.Image, "exit", failed.ExitCode, "stderr", string(failed.Stderr.Reveal()))
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			p.logPlugins(pod, one)
		}
	}
}

func (p *Puller) fetch(ctx context.Context, image string, auth *runtimeapi.AuthConfig) (string, error) {
	resp, err := p.Images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: image}, Auth: auth})
	return resp.GetImageRef(), err
}
