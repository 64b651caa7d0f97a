package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// eventSeconds is how long events are kept.
const eventSeconds = 60 * 60

func serviceAccounts() resource[*corev1.ServiceAccount] {
	return resource[*corev1.ServiceAccount]{
		version: corev1.SchemeGroupVersion, plural: "serviceaccounts", singular: "serviceaccount", short: []string{"sa"},
		namespaced: true,
		newObject:  func() runtime.Object { return &corev1.ServiceAccount{} },
		newList:    func() runtime.Object { return &corev1.ServiceAccountList{} },
		columns: []column[*corev1.ServiceAccount]{
			{name: "Secrets", kind: "integer", cell: func(a *corev1.ServiceAccount) any { return len(a.Secrets) }},
		},
	}
}

func secrets() resource[*corev1.Secret] {
	return resource[*corev1.Secret]{
		version: corev1.SchemeGroupVersion, plural: "secrets", singular: "secret", namespaced: true,
		newObject: func() runtime.Object { return &corev1.Secret{} },
		newList:   func() runtime.Object { return &corev1.SecretList{} },
		columns: []column[*corev1.Secret]{
			{name: "Type", kind: "string", cell: func(s *corev1.Secret) any { return string(s.Type) }},
			{name: "Data", kind: "integer", cell: func(s *corev1.Secret) any { return len(s.Data) }},
		},
		fill: func(s *corev1.Secret) {
			if s.Type == "" {
				s.Type = corev1.SecretTypeOpaque
			}
			merge(s)
		},
		keep: func(updated, _ *corev1.Secret) { merge(updated) },
		validateUpdate: func(updated, old *corev1.Secret) field.ErrorList {
			return unchanged(updated.Type, old.Type, field.NewPath("type"))
		},
	}
}

// merge moves stringData, which is for writing only, into data.
func merge(s *corev1.Secret) {
	if len(s.StringData) == 0 {
		return
	}
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for key, value := range s.StringData {
		s.Data[key] = []byte(value)
	}
	s.StringData = nil
}

// unchanged refuses a change of a field without repeating its value.
func unchanged[V any](updated, old V, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(updated, old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "field is immutable")}
}

func configMaps() resource[*corev1.ConfigMap] {
	return resource[*corev1.ConfigMap]{
		version: corev1.SchemeGroupVersion, plural: "configmaps", singular: "configmap", short: []string{"cm"}, namespaced: true,
		newObject: func() runtime.Object { return &corev1.ConfigMap{} },
		newList:   func() runtime.Object { return &corev1.ConfigMapList{} },
		columns: []column[*corev1.ConfigMap]{
			{name: "Data", kind: "integer", cell: func(m *corev1.ConfigMap) any { return len(m.Data) + len(m.BinaryData) }},
		},
	}
}

// services are for real kubelets, which give containers variables of them. None gets an address, and nothing leads to
// one.
func services() resource[*corev1.Service] {
	return resource[*corev1.Service]{
		version: corev1.SchemeGroupVersion, plural: "services", singular: "service", short: []string{"svc"}, namespaced: true,
		newObject: func() runtime.Object { return &corev1.Service{} },
		newList:   func() runtime.Object { return &corev1.ServiceList{} },
		columns: []column[*corev1.Service]{
			{name: "Type", kind: "string", cell: func(s *corev1.Service) any { return string(s.Spec.Type) }},
			{name: "Cluster-IP", kind: "string", cell: func(s *corev1.Service) any { return orNone(s.Spec.ClusterIP) }},
		},
		fill: func(s *corev1.Service) {
			setDefault(&s.Spec.Type, corev1.ServiceTypeClusterIP)
			setDefault(&s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
			for i := range s.Spec.Ports {
				setDefault(&s.Spec.Ports[i].Protocol, corev1.ProtocolTCP)
			}
			s.Status = corev1.ServiceStatus{}
		},
		keep:          func(updated, old *corev1.Service) { updated.Status = old.Status },
		keepForStatus: func(updated, old *corev1.Service) { updated.Spec = old.Spec },
	}
}

func persistentVolumeClaims() resource[*corev1.PersistentVolumeClaim] {
	return resource[*corev1.PersistentVolumeClaim]{
		version: corev1.SchemeGroupVersion, plural: "persistentvolumeclaims", singular: "persistentvolumeclaim",
		short: []string{"pvc"}, namespaced: true,
		newObject: func() runtime.Object { return &corev1.PersistentVolumeClaim{} },
		newList:   func() runtime.Object { return &corev1.PersistentVolumeClaimList{} },
		columns: []column[*corev1.PersistentVolumeClaim]{
			{name: "Status", kind: "string", cell: func(c *corev1.PersistentVolumeClaim) any { return string(c.Status.Phase) }},
			{name: "Volume", kind: "string", cell: func(c *corev1.PersistentVolumeClaim) any { return c.Spec.VolumeName }},
		},
		fill: func(c *corev1.PersistentVolumeClaim) {
			c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		},
		keep:          func(updated, old *corev1.PersistentVolumeClaim) { updated.Status = old.Status },
		keepForStatus: func(updated, old *corev1.PersistentVolumeClaim) { updated.Spec = old.Spec },
	}
}

func events() resource[*corev1.Event] {
	return resource[*corev1.Event]{
		version: corev1.SchemeGroupVersion, plural: "events", singular: "event", short: []string{"ev"}, namespaced: true,
		newObject: func() runtime.Object { return &corev1.Event{} },
		newList:   func() runtime.Object { return &corev1.EventList{} },
		ttl:       eventSeconds,
		columns: []column[*corev1.Event]{
			{name: "Last Seen", kind: "string", cell: func(e *corev1.Event) any { return age(lastSeen(e)) }},
			{name: "Type", kind: "string", cell: func(e *corev1.Event) any { return e.Type }},
			{name: "Reason", kind: "string", cell: func(e *corev1.Event) any { return e.Reason }},
			{name: "Object", kind: "string", cell: func(e *corev1.Event) any {
				return e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name
			}},
			{name: "Message", kind: "string", cell: func(e *corev1.Event) any { return e.Message }},
		},
		validate: func(e *corev1.Event) field.ErrorList {
			if e.InvolvedObject.Namespace == "" || e.InvolvedObject.Namespace == e.Namespace {
				return nil
			}
			return field.ErrorList{field.Invalid(field.NewPath("involvedObject", "namespace"), e.InvolvedObject.Namespace,
				"must be the event's own namespace")}
		},
	}
}

func lastSeen(e *corev1.Event) metav1.Time {
	if e.LastTimestamp.IsZero() {
		return metav1.Time(e.EventTime)
	}
	return e.LastTimestamp
}
