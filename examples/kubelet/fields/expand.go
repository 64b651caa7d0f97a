package fields

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// scope is what stands around a value.
type scope struct {
	pod       *corev1.PodSpec
	container *corev1.Container
	parent    any // the struct that holds the field
}

// literal reports whether a text stays what it is when Kubernetes expands it: it has neither $$ nor a reference to a
// variable of the container. A reference to a variable that is not there stays as it is.
func literal(text string, in scope) bool {
	if strings.Contains(text, "$$") {
		return false
	}
	if in.container == nil {
		return true
	}
	for _, e := range in.container.Env {
		if strings.Contains(text, "$("+e.Name+")") {
			return false
		}
	}
	return true
}

// samePort reports whether a port of the node is the container's own, because they share the network.
func samePort(text string, in scope) bool {
	port, ok := in.parent.(corev1.ContainerPort)
	return ok && in.pod.HostNetwork && text == strconv.Itoa(int(port.ContainerPort))
}
