package webhook

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

// What the informers keep of objects: a pod as it comes from the API server has many kilobytes, and the webhook knows
// all of the cluster.

// storedPod is what is kept of a pod.
type storedPod struct {
	metav1.ObjectMeta
	pod *admission.Pod
}

func storePod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &storedPod{ObjectMeta: storedMeta(&pod.ObjectMeta), pod: admission.PodOf(pod)}, nil
}

// storedLease is what is kept of a Lease: nil for one that says nothing of the bridge, or nothing that can be read.
type storedLease struct {
	metav1.ObjectMeta
	lease *readiness.Lease
}

func storeLease(object any) (any, error) {
	from, ok := object.(*coordinationv1.Lease)
	if !ok {
		return object, nil
	}
	stored := &storedLease{ObjectMeta: storedMeta(&from.ObjectMeta)}
	said, err := readiness.Parse(from.Annotations)
	if err == nil && from.Spec.RenewTime != nil && from.Spec.LeaseDurationSeconds != nil {
		stored.lease = &readiness.Lease{
			Readiness: said, Renewed: from.Spec.RenewTime.Time,
			Duration: time.Duration(*from.Spec.LeaseDurationSeconds) * time.Second,
		}
	}
	return stored, nil
}

// storedNamespace is what is kept of a namespace.
type storedNamespace struct {
	metav1.ObjectMeta
	optedOut bool
}

func storeNamespace(object any) (any, error) {
	namespace, ok := object.(*corev1.Namespace)
	if !ok {
		return object, nil
	}
	return &storedNamespace{
		ObjectMeta: storedMeta(&namespace.ObjectMeta), optedOut: namespace.Labels[bridge.MarkAnnotation] == bridge.MarkOff,
	}, nil
}

func storedMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, DeletionTimestamp: m.DeletionTimestamp,
	}
}
