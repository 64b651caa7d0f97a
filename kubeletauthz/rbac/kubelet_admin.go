package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KubeletAPIAdmin returns a new system:kubelet-api-admin ClusterRole, which lets the API server call kubelets, for an
// API server whose KubeletFineGrainedAuthz gate is on or off. With the gate on it also grants healthz, pods and
// configz; it grants proxy in both cases, so that an API server reaches a kubelet whose gate differs from its own.
//
// As in Kubernetes, it grants neither nodes/checkpoint nor nodes/statusz: a client with this role alone is refused
// there. Source: KEP-2862, Design Details.
func KubeletAPIAdmin(fineGrained bool) *rbacv1.ClusterRole {
	subresources := []string{"nodes/log", "nodes/metrics", "nodes/proxy", "nodes/stats"}
	if fineGrained {
		subresources = append(subresources, "nodes/healthz", "nodes/pods", "nodes/configz")
	}
	return &rbacv1.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        "system:kubelet-api-admin",
			Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"},
			Labels:      map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"},
		},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"proxy"}},
			{APIGroups: []string{""}, Resources: subresources, Verbs: []string{all}},
		},
	}
}
