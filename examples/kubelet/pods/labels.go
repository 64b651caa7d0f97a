package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Labels of sandboxes and containers in the runtime, by the names that Kubernetes
// uses, and the node's own, by which a kubelet knows what it made.
const (
	LabelPodName       = "io.kubernetes.pod.name"
	LabelPodNamespace  = "io.kubernetes.pod.namespace"
	LabelPodUID        = "io.kubernetes.pod.uid"
	LabelContainerName = "io.kubernetes.container.name"
	LabelNode          = "lanyard.dev/node"
)

// annotationGrace keeps a pod's grace period beside its containers, for the day
// the pod is gone from the API server before its containers have ended.
const annotationGrace = "lanyard.dev/grace-period-seconds"

// annotationResources keeps what resources a container was made with, as JSON.
const annotationResources = "lanyard.dev/resources"

func podLabels(pod *corev1.Pod, node string) map[string]string {
	return map[string]string{
		LabelPodName:      pod.Name,
		LabelPodNamespace: pod.Namespace,
		LabelPodUID:       string(pod.UID),
		LabelNode:         node,
	}
}

func containerLabels(pod *corev1.Pod, container, node string) map[string]string {
	labels := podLabels(pod, node)
	labels[LabelContainerName] = container
	return labels
}

func uidOf(labels map[string]string) types.UID { return types.UID(labels[LabelPodUID]) }
