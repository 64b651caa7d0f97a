package connect

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// defaultContainer is the annotation by which a pod says which of its containers is meant when none is named.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// Pods finds pods and the kubelets they run on.
type Pods struct {
	// Store holds the pods.
	Store *registry.Store
	// Kubelets reaches their nodes.
	Kubelets *Kubelets
}

// get returns a pod of the request's namespace.
func (p Pods) get(ctx context.Context, name string) (*corev1.Pod, error) {
	return registry.Get[*corev1.Pod](ctx, p.Store, request.NamespaceValue(ctx), name)
}

// location returns the kubelet's URL for a verb such as exec, a pod, and a container, which may be empty.
func (p Pods) location(ctx context.Context, verb string, pod *corev1.Pod, container string, query url.Values) (*url.URL, error) {
	if pod.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %q is on no node yet", pod.Name))
	}
	location, err := p.Kubelets.Location(ctx, pod.Spec.NodeName)
	if err != nil {
		return nil, err
	}
	location.Path = path.Join("/", verb, pod.Namespace, pod.Name, container)
	location.RawQuery = query.Encode()
	return location, nil
}

// container returns the one that is meant: the one named, the pod's default, or the only one.
func container(pod *corev1.Pod, name string) (string, error) {
	known := containerNames(pod)
	if name == "" {
		name = pod.Annotations[defaultContainer]
	}
	switch {
	case name == "" && len(pod.Spec.Containers) == 1:
		return pod.Spec.Containers[0].Name, nil
	case name == "":
		return "", apierrors.NewBadRequest(fmt.Sprintf("pod %q has several containers, name one of: %s", pod.Name, strings.Join(known, ", ")))
	case !slices.Contains(known, name):
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %q is not valid for pod %q: it has %s", name, pod.Name, strings.Join(known, ", ")))
	}
	return name, nil
}

func containerNames(pod *corev1.Pod) []string {
	var names []string
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	return names
}
