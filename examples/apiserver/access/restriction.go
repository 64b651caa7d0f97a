package access

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/lanyard-dev/lanyard/credprovider/audience"
	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// Restriction is the admission plugin that keeps a node to its own objects: its Node, its Lease, its CSINode, the pods
// bound to it, and tokens for those, of audiences that the pod or the authorizer allows. It lets pass whoever is no
// node.
type Restriction struct {
	tokens audience.Checker
}

// NewRestriction returns the plugin over a registry. unrestricted is the gate ServiceAccountNodeAudienceRestriction
// being off; while it is on, the authorizer is asked about audiences that a pod's own volumes do not name.
func NewRestriction(r *registry.Registry, a authorizer.Authorizer, unrestricted bool) *Restriction {
	found := lookup{r}
	return &Restriction{tokens: audience.Checker{
		Pods: found, Claims: found, Volumes: found, Drivers: found,
		Authorizer: audiences{a}, Unrestricted: unrestricted,
	}}
}

var _ admission.ValidationInterface = (*Restriction)(nil)

// Handles implements admission.Interface.
func (r *Restriction) Handles(admission.Operation) bool { return true }

// Validate implements admission.ValidationInterface.
func (r *Restriction) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	node := NodeName(a.GetUserInfo())
	if node == "" {
		return nil
	}
	err := r.check(ctx, node, a)
	if err == nil || apierrors.IsNotFound(err) {
		return err
	}
	return admission.NewForbidden(a, err)
}

func (r *Restriction) check(ctx context.Context, node string, a admission.Attributes) error {
	group := a.GetResource().GroupResource()
	switch {
	case group == corev1.Resource("nodes") && a.GetOperation() != admission.Connect:
		return ownNode(node, a)
	case group == corev1.Resource("pods") && a.GetOperation() != admission.Connect:
		return r.ownPod(node, a)
	case group == corev1.Resource("serviceaccounts") && a.GetSubresource() == "token":
		return r.token(ctx, node, a)
	case group.Resource == "leases":
		return ownLease(node, a)
	case group == storagev1.Resource("csinodes"):
		return ownCSINode(node, a)
	}
	return nil
}

func ownNode(node string, a admission.Attributes) error {
	if a.GetOperation() == admission.Delete {
		return errors.New("a node does not delete nodes")
	}
	if name := nameOf(a); name != node {
		return fmt.Errorf("node %q may not change node %q", node, name)
	}
	return nil
}

func ownLease(node string, a admission.Attributes) error {
	if a.GetNamespace() != corev1.NamespaceNodeLease || nameOf(a) != node {
		return fmt.Errorf("node %q may use only its own lease in %s", node, corev1.NamespaceNodeLease)
	}
	return nil
}

func ownCSINode(node string, a admission.Attributes) error {
	if name := nameOf(a); name != node {
		return fmt.Errorf("node %q may not change the CSINode %q", node, name)
	}
	return nil
}

// nameOf is the request's, or of one that creates an object the object's.
func nameOf(a admission.Attributes) string {
	if object, ok := a.GetObject().(interface{ GetName() string }); ok && a.GetName() == "" {
		return object.GetName()
	}
	return a.GetName()
}

// ownPod allows status updates and deletion of the node's pods, and the creation of mirror pods on it.
func (r *Restriction) ownPod(node string, a admission.Attributes) error {
	object := a.GetOldObject()
	if a.GetOperation() == admission.Create {
		object = a.GetObject()
	}
	pod, ok := object.(*corev1.Pod)
	switch {
	case !ok:
		return errors.New("a node deletes pods one by one")
	case pod.Spec.NodeName != node:
		return fmt.Errorf("node %q may not change pods of node %q", node, pod.Spec.NodeName)
	case a.GetOperation() == admission.Create:
		return mirror(pod)
	case a.GetOperation() == admission.Update && a.GetSubresource() != "status":
		return errors.New("a node changes nothing of a pod but its status")
	}
	return nil
}

// mirror allows pods that stand for what the node runs by itself, and that reach for nothing.
func mirror(pod *corev1.Pod) error {
	if pod.Annotations[corev1.MirrorPodAnnotationKey] == "" {
		return errors.New("a node creates no pods but mirrors of its own")
	}
	if len(secretsOf(pod))+len(configMapsOf(pod))+len(claimsOf(pod)) > 0 {
		return errors.New("a mirror pod refers to no secrets, config maps or claims")
	}
	return nil
}

// token allows tokens for pods of the node.
func (r *Restriction) token(ctx context.Context, node string, a admission.Attributes) error {
	request, ok := a.GetObject().(*authenticationv1.TokenRequest)
	if !ok {
		return fmt.Errorf("unexpected object %T", a.GetObject())
	}
	u := a.GetUserInfo()
	return r.tokens.Check(ctx, audience.Request{
		Node:      node,
		User:      audience.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()},
		Namespace: a.GetNamespace(), Name: a.GetName(), Spec: request.Spec,
	})
}
