package audience

import (
	"context"
	"errors"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Verb is what the authorizer is asked about an audience.
const Verb = "request-serviceaccounts-token-audience"

// Pods finds pods. An error for a missing pod passes through Check unchanged, so that a server can answer 404.
type Pods interface {
	Pod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
}

// Claims finds persistent volume claims.
type Claims interface {
	Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error)
}

// Volumes finds persistent volumes.
type Volumes interface {
	Volume(ctx context.Context, name string) (*corev1.PersistentVolume, error)
}

// Drivers finds CSI drivers.
type Drivers interface {
	Driver(ctx context.Context, name string) (*storagev1.CSIDriver, error)
}

// Authorizer decides. An allow counts also when it comes with an error, as evaluation goes on after one.
type Authorizer interface {
	Authorize(ctx context.Context, attributes Attributes) (allowed bool, reason string, err error)
}

// User is who asks.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Attributes are the question for the authorizer. It is a question about a resource, without subresource.
type Attributes struct {
	User       User
	Verb       string
	APIGroup   string
	APIVersion string
	// Resource is the audience as a whole, slashes included; empty for the API server's own.
	Resource string
	// Namespace and Name are those of the service account.
	Namespace string
	Name      string
}

// Request is a node's request for a token.
type Request struct {
	// Node is the name of the node.
	Node string
	// User is the node's identity, for the authorizer.
	User User
	// Namespace and Name are those of the service account.
	Namespace string
	Name      string
	// Spec is what is asked for. It is not the whole TokenRequest, whose status holds the token once it is answered.
	Spec authenticationv1.TokenRequestSpec
}

// Checker decides about requests of nodes. All fields but Unrestricted are required. It is safe for concurrent use when
// its parts are.
type Checker struct {
	Pods       Pods
	Claims     Claims
	Volumes    Volumes
	Drivers    Drivers
	Authorizer Authorizer
	// Unrestricted is the gate ServiceAccountNodeAudienceRestriction being off: any number of any audiences passes. The
	// rules about the pod hold.
	Unrestricted bool
}

// Check returns nil when the node may have the token. Errors: *[BindingError] when it is not bound to a pod that runs
// on the node, what Pods returns, ErrAudiences for more than one audience, and *[DeniedError] for one that is not
// allowed.
func (c Checker) Check(ctx context.Context, r Request) error {
	pod, err := c.boundPod(ctx, r)
	if err != nil || c.Unrestricted {
		return err
	}
	audience := ""
	switch audiences := r.Spec.Audiences; len(audiences) {
	case 0:
	case 1:
		audience = audiences[0]
	default:
		return ErrAudiences
	}
	found, volumeErr := c.inVolumes(ctx, pod, audience)
	if found {
		return nil
	}
	allowed, reason, err := c.Authorizer.Authorize(ctx, Attributes{
		User: r.User, Verb: Verb, APIGroup: "", APIVersion: "v1", Resource: audience, Namespace: r.Namespace, Name: r.Name,
	})
	if allowed {
		return nil
	}
	return &DeniedError{User: r.User.Name, Audience: audience, Reason: reason, Err: errors.Join(volumeErr, err)}
}

// boundPod returns the pod that the token is bound to, when it runs on the node.
func (c Checker) boundPod(ctx context.Context, r Request) (*corev1.Pod, error) {
	ref := r.Spec.BoundObjectRef
	switch {
	case ref == nil, ref.APIVersion != "v1", ref.Kind != "Pod", ref.Name == "":
		return nil, &BindingError{Rule: "node requested token not bound to a pod"}
	case ref.UID == "":
		return nil, &BindingError{Rule: "node requested token with a pod binding without a uid"}
	}
	pod, err := c.Pods.Pod(ctx, r.Namespace, ref.Name)
	switch {
	case err != nil:
		return nil, err
	case pod.UID != ref.UID:
		return nil, &BindingError{Rule: "the UID in the bound object reference (" + string(ref.UID) +
			") does not match the UID in record. The object might have been deleted and then recreated"}
	case pod.Spec.NodeName != r.Node:
		return nil, &BindingError{Rule: "node requested token bound to a pod scheduled on a different node"}
	}
	return pod, nil
}
