package pods

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ErrImageNeverPull is returned for an image that is not on the node and that the
// pod forbids to pull.
var ErrImageNeverPull = errors.New("image is not present with pull policy of Never")

// Puller brings the images of containers to the node.
type Puller interface {
	// Ensure returns the reference by which the runtime runs the container's
	// image, after a pull if the container's pull policy asks for one.
	Ensure(ctx context.Context, pod *corev1.Pod, container *corev1.Container) (ref string, err error)
	// Forget lets go of what is kept for a pod that is gone.
	Forget(pod types.UID)
}

// PullPolicy returns the container's policy or, where it has none, the one that
// the API server would set: Always for the tag latest and for no tag at all.
func PullPolicy(container *corev1.Container) corev1.PullPolicy {
	if container.ImagePullPolicy != "" {
		return container.ImagePullPolicy
	}
	if strings.Contains(container.Image, "@") {
		return corev1.PullIfNotPresent
	}
	last := container.Image[strings.LastIndex(container.Image, "/")+1:]
	if _, tag, tagged := strings.Cut(last, ":"); tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

// imageUser returns config.User of an image the way the runtime reports it: a
// number, a name, or nothing.
func imageUser(image *runtimeapi.Image) string {
	if uid := image.GetUid(); uid != nil {
		return fmt.Sprint(uid.GetValue())
	}
	return image.GetUsername()
}
