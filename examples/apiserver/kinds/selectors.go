package kinds

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

// selectable names the fields that a field selector may use, beyond metadata.name and metadata.namespace.
func selectable() map[string][]string {
	return map[string][]string{
		"Pod": {
			"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
			"status.phase", "status.podIP", "status.nominatedNodeName",
		},
		"Event": {
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type",
		},
		"Node":      {"spec.unschedulable"},
		"Namespace": {"status.phase"},
		"Secret":    {"type"},
		"Service":   {"spec.clusterIP", "spec.type"},
	}
}

func addSelectors(scheme *runtime.Scheme) error {
	for kind, known := range selectable() {
		known := append([]string{"metadata.name", "metadata.namespace"}, known...)
		err := scheme.AddFieldLabelConversionFunc(corev1.SchemeGroupVersion.WithKind(kind), func(label, value string) (string, string, error) {
			if !slices.Contains(known, label) {
				return "", "", fmt.Errorf("%q is not a known field selector: only %q", label, known)
			}
			return label, value, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Fields returns what field selectors see of an object beyond its metadata; nil for kinds that show nothing more.
func Fields(object runtime.Object) fields.Set {
	switch o := object.(type) {
	case *corev1.Pod:
		return podFields(o)
	case *corev1.Event:
		return eventFields(o)
	case *corev1.Node:
		return fields.Set{"spec.unschedulable": fmt.Sprint(o.Spec.Unschedulable)}
	case *corev1.Namespace:
		return fields.Set{"status.phase": string(o.Status.Phase)}
	case *corev1.Service:
		return fields.Set{"spec.clusterIP": o.Spec.ClusterIP, "spec.type": string(o.Spec.Type)}
	case *corev1.Secret:
		return fields.Set{"type": string(o.Type)}
	}
	return nil
}

func podFields(p *corev1.Pod) fields.Set {
	return fields.Set{
		"spec.nodeName":            p.Spec.NodeName,
		"spec.restartPolicy":       string(p.Spec.RestartPolicy),
		"spec.schedulerName":       p.Spec.SchedulerName,
		"spec.serviceAccountName":  p.Spec.ServiceAccountName,
		"spec.hostNetwork":         fmt.Sprint(p.Spec.HostNetwork),
		"status.phase":             string(p.Status.Phase),
		"status.podIP":             p.Status.PodIP,
		"status.nominatedNodeName": p.Status.NominatedNodeName,
	}
}

func eventFields(e *corev1.Event) fields.Set {
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	return fields.Set{
		"involvedObject.kind":            e.InvolvedObject.Kind,
		"involvedObject.namespace":       e.InvolvedObject.Namespace,
		"involvedObject.name":            e.InvolvedObject.Name,
		"involvedObject.uid":             string(e.InvolvedObject.UID),
		"involvedObject.apiVersion":      e.InvolvedObject.APIVersion,
		"involvedObject.resourceVersion": e.InvolvedObject.ResourceVersion,
		"involvedObject.fieldPath":       e.InvolvedObject.FieldPath,
		"reason":                         e.Reason,
		"reportingComponent":             e.ReportingController,
		"source":                         source,
		"type":                           e.Type,
	}
}
