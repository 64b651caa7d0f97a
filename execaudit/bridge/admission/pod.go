package admission

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Pod is what a decision needs to know of a pod.
type Pod struct {
	// ID has the UID that the node knows the pod by.
	ID token.Pod
	// Node is empty while the pod is not scheduled.
	Node string
	// RuntimeClass is the pod's; empty is none.
	RuntimeClass string
	// Started is status.startTime; the zero time is not yet.
	Started time.Time
	// OptedOut says that the pod is annotated with bridge.MarkAnnotation.
	OptedOut bool
	// Containers are those of the specification, then its init and its ephemeral containers.
	Containers []Container
	// regular is how many of the containers are neither init nor ephemeral ones.
	regular int
}

// Container is one container of a pod.
type Container struct {
	Name string
	// Started is when it started; the zero time is for one that does not run.
	Started time.Time
}

// PodOf returns what a decision needs to know of the pod.
func PodOf(pod *corev1.Pod) *Pod {
	p := &Pod{
		ID:       token.Pod{UID: token.PodUID(string(pod.UID), pod.Annotations), Namespace: pod.Namespace, Name: pod.Name},
		Node:     pod.Spec.NodeName,
		OptedOut: pod.Annotations[bridge.MarkAnnotation] == bridge.MarkOff,
		regular:  len(pod.Spec.Containers),
	}
	if class := pod.Spec.RuntimeClassName; class != nil {
		p.RuntimeClass = *class
	}
	if at := pod.Status.StartTime; at != nil {
		p.Started = at.Time
	}
	started := func(name string, statuses []corev1.ContainerStatus) {
		c := Container{Name: name}
		for i := range statuses {
			if running := statuses[i].State.Running; statuses[i].Name == name && running != nil {
				c.Started = running.StartedAt.Time
			}
		}
		p.Containers = append(p.Containers, c)
	}
	for i := range pod.Spec.Containers {
		started(pod.Spec.Containers[i].Name, pod.Status.ContainerStatuses)
	}
	for i := range pod.Spec.InitContainers {
		started(pod.Spec.InitContainers[i].Name, pod.Status.InitContainerStatuses)
	}
	for i := range pod.Spec.EphemeralContainers {
		started(pod.Spec.EphemeralContainers[i].Name, pod.Status.EphemeralContainerStatuses)
	}
	return p
}

// Container returns the container that the API server takes for the name, which may be empty: then the only one that
// is neither an init nor an ephemeral container. False is for a name that the API server refuses.
//
// Source: kubernetes 1.37, pkg/registry/core/pod/strategy.go, validateContainer. The annotation
// kubectl.kubernetes.io/default-container is for clients, which send the name that they read there.
func (p *Pod) Container(name string) (Container, bool) {
	if name == "" {
		if p.regular != 1 {
			return Container{}, false
		}
		return p.Containers[0], true
	}
	for _, c := range p.Containers {
		if c.Name == name {
			return c, true
		}
	}
	return Container{}, false
}

// Known is what is known of a request's pod and its node.
type Known struct {
	// Pod is nil where there is none of that name.
	Pod *Pod
	// Handler is the runtime handler of the pod's class.
	Handler string
	// NamespaceOptedOut says that the namespace is labelled with bridge.MarkAnnotation.
	NamespaceOptedOut bool
	// Lease is the node's; nil where there is none.
	Lease *readiness.Lease
	// Problem is why something of this could not be found out, as a few words for an audit event; empty when all was.
	Problem string
}
