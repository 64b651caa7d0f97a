package registry

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

func namespaces() resource[*corev1.Namespace] {
	return resource[*corev1.Namespace]{
		version: corev1.SchemeGroupVersion, plural: "namespaces", singular: "namespace", short: []string{"ns"},
		newObject: func() runtime.Object { return &corev1.Namespace{} },
		newList:   func() runtime.Object { return &corev1.NamespaceList{} },
		validName: validation.ValidateNamespaceName,
		columns: []column[*corev1.Namespace]{
			{name: "Status", kind: "string", cell: func(n *corev1.Namespace) any { return string(n.Status.Phase) }},
		},
		fill: func(n *corev1.Namespace) {
			n.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
			n.Labels = withLabel(n.Labels, corev1.LabelMetadataName, n.Name)
		},
		keep:          func(updated, old *corev1.Namespace) { updated.Status = old.Status },
		keepForStatus: func(updated, old *corev1.Namespace) { updated.Spec = old.Spec },
	}
}

func withLabel(labels map[string]string, key, value string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	return labels
}

// nodes are stored without the feature of KEP-3619 while its gate is off.
func nodes(groups admission.Component) resource[*corev1.Node] {
	return resource[*corev1.Node]{
		version: corev1.SchemeGroupVersion, plural: "nodes", singular: "node", short: []string{"no"},
		newObject: func() runtime.Object { return &corev1.Node{} },
		newList:   func() runtime.Object { return &corev1.NodeList{} },
		columns: []column[*corev1.Node]{
			{name: "Status", kind: "string", cell: func(n *corev1.Node) any { return readiness(n) }},
			{name: "Roles", kind: "string", cell: func(n *corev1.Node) any { return roles(n) }},
			{name: "Version", kind: "string", cell: func(n *corev1.Node) any { return n.Status.NodeInfo.KubeletVersion }},
			{name: "Container-Runtime", kind: "string", wide: true, cell: func(n *corev1.Node) any {
				return n.Status.NodeInfo.ContainerRuntimeVersion
			}},
		},
		fill: func(n *corev1.Node) { admission.DropNodeFields(groups, n, nil) },
		keep: func(updated, old *corev1.Node) { updated.Status = old.Status },
		keepForStatus: func(updated, old *corev1.Node) {
			updated.Spec = old.Spec
			admission.DropNodeFields(groups, updated, old)
		},
	}
}

func readiness(n *corev1.Node) string {
	state := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			state = map[corev1.ConditionStatus]string{corev1.ConditionTrue: "Ready", corev1.ConditionFalse: "NotReady"}[c.Status]
		}
	}
	if n.Spec.Unschedulable {
		state += ",SchedulingDisabled"
	}
	return state
}

func roles(n *corev1.Node) string {
	var found []string
	for label := range n.Labels {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok {
			found = append(found, role)
		}
	}
	if len(found) == 0 {
		return "<none>"
	}
	return strings.Join(found, ",")
}

func persistentVolumes() resource[*corev1.PersistentVolume] {
	return resource[*corev1.PersistentVolume]{
		version: corev1.SchemeGroupVersion, plural: "persistentvolumes", singular: "persistentvolume", short: []string{"pv"},
		newObject: func() runtime.Object { return &corev1.PersistentVolume{} },
		newList:   func() runtime.Object { return &corev1.PersistentVolumeList{} },
		columns: []column[*corev1.PersistentVolume]{
			{name: "Status", kind: "string", cell: func(v *corev1.PersistentVolume) any { return string(v.Status.Phase) }},
		},
		fill: func(v *corev1.PersistentVolume) {
			v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending}
		},
		keep:          func(updated, old *corev1.PersistentVolume) { updated.Status = old.Status },
		keepForStatus: func(updated, old *corev1.PersistentVolume) { updated.Spec = old.Spec },
	}
}

func csiDrivers() resource[*storagev1.CSIDriver] {
	return resource[*storagev1.CSIDriver]{
		version: storagev1.SchemeGroupVersion, plural: "csidrivers", singular: "csidriver",
		newObject: func() runtime.Object { return &storagev1.CSIDriver{} },
		newList:   func() runtime.Object { return &storagev1.CSIDriverList{} },
		columns: []column[*storagev1.CSIDriver]{
			{name: "TokenRequests", kind: "integer", cell: func(d *storagev1.CSIDriver) any { return len(d.Spec.TokenRequests) }},
		},
	}
}

// csiNodes are for real kubelets, which make theirs when they start.
func csiNodes() resource[*storagev1.CSINode] {
	return resource[*storagev1.CSINode]{
		version: storagev1.SchemeGroupVersion, plural: "csinodes", singular: "csinode",
		newObject: func() runtime.Object { return &storagev1.CSINode{} },
		newList:   func() runtime.Object { return &storagev1.CSINodeList{} },
		columns: []column[*storagev1.CSINode]{
			{name: "Drivers", kind: "integer", cell: func(n *storagev1.CSINode) any { return len(n.Spec.Drivers) }},
		},
	}
}

func leases() resource[*coordinationv1.Lease] {
	return resource[*coordinationv1.Lease]{
		version: coordinationv1.SchemeGroupVersion, plural: "leases", singular: "lease", namespaced: true,
		newObject: func() runtime.Object { return &coordinationv1.Lease{} },
		newList:   func() runtime.Object { return &coordinationv1.LeaseList{} },
		columns: []column[*coordinationv1.Lease]{
			{name: "Holder", kind: "string", cell: func(l *coordinationv1.Lease) any {
				if l.Spec.HolderIdentity == nil {
					return ""
				}
				return *l.Spec.HolderIdentity
			}},
		},
	}
}
