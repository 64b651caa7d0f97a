package bridge_test

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// account is a client with a token of the service account, bound to a pod on the node; no node, no pod.
func account(t *testing.T, c *kubernetes.Cluster, name, node string) *clientset.Clientset {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	if node != "" {
		pod, err := c.Client().CoreV1().Pods(bridge.Namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"},
			Spec: corev1.PodSpec{
				ServiceAccountName: name, NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "none.example/none"}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	answer, err := c.Client().CoreV1().ServiceAccounts(bridge.Namespace).CreateToken(t.Context(), name, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	user, err := c.User(name, &clientcmdapi.AuthInfo{Token: answer.Status.Token})
	if err != nil {
		t.Fatal(err)
	}
	client, err := user.Client()
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// chartRights asks as the service accounts what they may do.
func chartRights(t *testing.T, c *kubernetes.Cluster) {
	type right struct{ verb, group, resource, namespace string }
	verbs := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	for name, may := range map[string]func(right) bool{
		"lanyard-bridge-webhook": func(r right) bool {
			reads := r.verb == "get" || r.verb == "list" || r.verb == "watch"
			return reads && (r.resource == "pods" || r.resource == "namespaces" || r.resource == "runtimeclasses" || r.resource == "leases" && r.namespace == bridge.Namespace)
		},
		"lanyard-bridge-node": func(r right) bool {
			return r.resource == "leases" && r.namespace == bridge.Namespace && (r.verb == "get" || r.verb == "create" || r.verb == "update")
		},
	} {
		t.Run("BRG-9 an account may do what it needs, and no more: "+name, func(t *testing.T) {
			client := account(t, c, name, "")
			for _, namespace := range []string{bridge.Namespace, "kube-system", "team", ""} {
				for _, resource := range []string{
					"pods", "pods/exec", "pods/ephemeralcontainers", "secrets", "configmaps", "namespaces", "nodes", "nodes/proxy",
					"serviceaccounts/token", "leases.coordination.k8s.io", "runtimeclasses.node.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
				} {
					for _, verb := range verbs {
						resource, group, _ := strings.Cut(resource, ".")
						resource, sub, _ := strings.Cut(resource, "/")
						review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
							Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
								Verb: verb, Group: group, Resource: resource, Subresource: sub, Namespace: namespace,
							}},
						}, metav1.CreateOptions{})
						if err != nil {
							t.Fatal(err)
						}
						if want := sub == "" && may(right{verb, group, resource, namespace}); review.Status.Allowed != want {
							t.Errorf("%s %s/%s in %q: allowed %t, want %t", verb, resource, sub, namespace, review.Status.Allowed, want)
						}
					}
				}
			}
		})
	}
}

// chartLeases writes Leases as nodes' daemons.
func chartLeases(t *testing.T, c *kubernetes.Cluster) {
	for _, name := range []string{"n1", "n2"} {
		if _, err := c.Client().CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	first, second, unbound := account(t, c, "lanyard-bridge-node", "n1"), account(t, c, "lanyard-bridge-node", "n2"), account(t, c, "lanyard-bridge-node", "")
	write := func(client *clientset.Clientset, name string) error {
		leases := client.CoordinationV1().Leases(bridge.Namespace)
		lease, err := leases.Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, "written", "again")
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err
	}
	// The API server learns of a policy by a watch.
	chartSoon(t, "the policy is in force", func() bool { return apierrors.IsForbidden(write(first, "lanyard-bridge-probe")) })
	t.Run("BRG-9 a node's daemon makes and renews its own Lease", func(t *testing.T) {
		for range 2 {
			if err := write(first, "lanyard-bridge-n1"); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("BRG-9 a node's daemon cannot speak for another node, whose Lease is there or not", func(t *testing.T) {
		for name, client := range map[string]*clientset.Clientset{"lanyard-bridge-n1": second, "lanyard-bridge-n2": first} {
			if err := write(client, name); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "own node") {
				t.Errorf("%s: %v, want the policy's refusal", name, err)
			}
		}
	})
	t.Run("BRG-9 a token that names no node writes no Lease", func(t *testing.T) {
		if err := write(unbound, "lanyard-bridge-n1"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "own node") {
			t.Errorf("%v, want the policy's refusal", err)
		}
	})
	t.Run("BRG-9 others' Leases are none of the policy's business", func(t *testing.T) {
		if err := write(c.Client(), "lanyard-bridge-n2"); err != nil {
			t.Error(err)
		}
		if err := write(c.Client(), "something-else"); err != nil {
			t.Error(err)
		}
	})
}
