package report

import (
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/source"
)

// Container is one container of a pod, as far as scanning needs it.
type Container struct {
	Namespace, Pod string
	// Image is where its image is looked for: by digest when the status has one, else as in the spec.
	Image source.Where
	// SpecImage is the image as in the spec.
	SpecImage string

	spec      *corev1.PodSpec
	container corev1.Container
	user      *corev1.LinuxContainerUser // nil when the node does not report it
}

// Containers returns the pod's containers of all kinds, in the order of the spec: init, main, ephemeral. A Windows pod
// has none that matter.
func Containers(pod *corev1.Pod) []Container {
	if pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows {
		return nil
	}
	// Only the security context is kept, so that a dump of any size fits.
	spec := &corev1.PodSpec{SecurityContext: pod.Spec.SecurityContext}
	var out []Container
	add := func(c corev1.Container, statuses []corev1.ContainerStatus) {
		kept := corev1.Container{Name: c.Name, SecurityContext: c.SecurityContext}
		out = append(out, newContainer(pod, spec, kept, c.Image, statuses))
	}
	for _, c := range pod.Spec.InitContainers {
		add(c, pod.Status.InitContainerStatuses)
	}
	for _, c := range pod.Spec.Containers {
		add(c, pod.Status.ContainerStatuses)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		add(corev1.Container(c.EphemeralContainerCommon), pod.Status.EphemeralContainerStatuses)
	}
	return out
}

func newContainer(pod *corev1.Pod, spec *corev1.PodSpec, c corev1.Container, image string, statuses []corev1.ContainerStatus) Container {
	out := Container{Namespace: pod.Namespace, Pod: pod.Name, Image: source.Reference(image), SpecImage: image, spec: spec, container: c}
	i := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
	if i < 0 {
		return out
	}
	if statuses[i].User != nil {
		out.user = statuses[i].User.Linux
	}
	id := strings.TrimPrefix(statuses[i].ImageID, "docker-pullable://")
	if _, err := name.NewDigest(id); err == nil {
		out.Image = source.Reference(id)
	}
	return out
}

// asked returns the groups that the pod names for this container.
func (c *Container) asked() []int64 {
	sc := c.spec.SecurityContext
	if sc == nil {
		return nil
	}
	groups := slices.Clone(sc.SupplementalGroups)
	if sc.FSGroup != nil {
		groups = append(groups, *sc.FSGroup)
	}
	return groups
}
