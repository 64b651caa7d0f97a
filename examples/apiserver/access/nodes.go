package access

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// NewNodes returns the authorizer of nodes: what every kubelet may ask, and what only the kubelet may ask that runs a
// pod which refers to it. It has no opinion about others. What an allowed request may hold is [Restriction]'s to say.
func NewNodes(r *registry.Registry) authorizer.Authorizer {
	n := nodes{registry: r}
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		name := NodeName(a.GetUser())
		if name == "" || !a.IsResourceRequest() {
			return authorizer.DecisionNoOpinion, "", nil
		}
		if fixed(a) || n.own(name, a) || n.referred(ctx, name, a) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "a node has no right to this", nil
	})
}

type nodes struct {
	registry *registry.Registry
}

// right is a group, a resource with its subresource, and verbs.
type right struct {
	group, resource string
	verbs           []string
}

// fixed reports the rights of every node.
func fixed(a authorizer.Attributes) bool {
	return slices.ContainsFunc([]right{
		{"", "nodes", []string{"create", "update", "patch"}},
		{"", "nodes/status", []string{"update", "patch"}},
		{"", "pods", []string{"create", "delete"}},
		{"", "pods/status", []string{"update", "patch"}},
		{"", "services", []string{"get", "list", "watch"}},
		{"", "events", []string{"create", "update", "patch"}},
		{"coordination.k8s.io", "leases", []string{"get", "create", "update", "patch", "delete"}},
		{"storage.k8s.io", "csidrivers", []string{"get", "list", "watch"}},
		{"authentication.k8s.io", "tokenreviews", []string{"create"}},
		{"authorization.k8s.io", "subjectaccessreviews", []string{"create"}},
		{"authorization.k8s.io", "localsubjectaccessreviews", []string{"create"}},
	}, func(r right) bool {
		return r.group == a.GetAPIGroup() && r.resource == resourceOf(a) && slices.Contains(r.verbs, a.GetVerb())
	})
}

func resourceOf(a authorizer.Attributes) string {
	if a.GetSubresource() == "" {
		return a.GetResource()
	}
	return a.GetResource() + "/" + a.GetSubresource()
}

// own reports reads of the node itself and of the list of its pods, and what it does with its CSINode.
func (n nodes) own(name string, a authorizer.Attributes) bool {
	if a.GetAPIGroup() == "storage.k8s.io" && resourceOf(a) == "csinodes" {
		// Which one may be created is Restriction's to say.
		return a.GetVerb() == "create" || a.GetName() == name && slices.Contains([]string{"get", "update", "patch", "delete"}, a.GetVerb())
	}
	if a.GetAPIGroup() != "" || !slices.Contains([]string{"get", "list", "watch"}, a.GetVerb()) {
		return false
	}
	switch resourceOf(a) {
	case "nodes":
		return a.GetName() == name || selects(a, "metadata.name", name)
	case "pods":
		return a.GetVerb() != "get" && selects(a, "spec.nodeName", name)
	}
	return false
}

// selects reports whether the request's field selector limits it to one value of a field.
func selects(a authorizer.Attributes, field, value string) bool {
	requirements, err := a.GetFieldSelector()
	if err != nil {
		return false
	}
	for _, r := range requirements {
		equal := r.Operator == selection.Equals || r.Operator == selection.DoubleEquals || r.Operator == selection.In
		if equal && r.Field == field && r.Value == value {
			return true
		}
	}
	return false
}

// referred reports reads of what some pod of the node is or refers to, and tokens for such a pod's account.
func (n nodes) referred(ctx context.Context, name string, a authorizer.Attributes) bool {
	if a.GetAPIGroup() != "" || a.GetName() == "" {
		return false
	}
	refers := referrer(resourceOf(a), a.GetVerb(), a.GetName())
	if refers == nil {
		return n.volume(ctx, name, a)
	}
	return slices.ContainsFunc(n.pods(ctx, a.GetNamespace(), name), refers)
}

// referrer returns the test whether a pod of the right namespace refers to an object; nil for what pods do not refer
// to.
func referrer(resource, verb, name string) func(*corev1.Pod) bool {
	read := slices.Contains([]string{"get", "list", "watch"}, verb)
	switch {
	case resource == "pods" && verb == "get":
		return func(p *corev1.Pod) bool { return p.Name == name }
	case resource == "secrets" && read:
		return func(p *corev1.Pod) bool { return slices.Contains(secretsOf(p), name) }
	case resource == "configmaps" && read:
		return func(p *corev1.Pod) bool { return slices.Contains(configMapsOf(p), name) }
	case resource == "persistentvolumeclaims" && verb == "get":
		return func(p *corev1.Pod) bool { return slices.Contains(claimsOf(p), name) }
	case resource == "serviceaccounts" && verb == "get", resource == "serviceaccounts/token" && verb == "create":
		return func(p *corev1.Pod) bool { return p.Spec.ServiceAccountName == name }
	}
	return nil
}

// volume reports reads of a persistent volume that a pod of the node has claimed.
func (n nodes) volume(ctx context.Context, name string, a authorizer.Attributes) bool {
	if resourceOf(a) != "persistentvolumes" || a.GetVerb() != "get" {
		return false
	}
	return slices.ContainsFunc(n.pods(ctx, metav1.NamespaceAll, name), func(p *corev1.Pod) bool {
		return slices.ContainsFunc(claimsOf(p), func(claim string) bool {
			c, err := registry.Get[*corev1.PersistentVolumeClaim](ctx, n.registry.PersistentVolumeClaims, p.Namespace, claim)
			return err == nil && c.Spec.VolumeName == a.GetName()
		})
	})
}

// pods returns those of a node; a store that cannot be read grants nothing.
func (n nodes) pods(ctx context.Context, namespace, node string) []*corev1.Pod {
	all, err := registry.List[*corev1.Pod](ctx, n.registry.Pods, namespace)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(p *corev1.Pod) bool { return p.Spec.NodeName != node })
}
