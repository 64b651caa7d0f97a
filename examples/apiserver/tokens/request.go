package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

const (
	// MinSeconds is the shortest life of a token, as in Kubernetes.
	MinSeconds = 10 * 60
	// MaxSeconds is the longest.
	MaxSeconds = 1 << 32
	// DefaultSeconds is how long one lives when the request does not say.
	DefaultSeconds = 60 * 60
)

// Request is serviceaccounts/token: it issues a token for the account in the path.
type Request struct {
	// Issuer signs.
	Issuer *Issuer
	// Audiences are those of a token whose request names none.
	Audiences authenticator.Audiences
	// Registry holds the accounts and what tokens may be bound to.
	Registry *registry.Registry
}

var (
	_ rest.NamedCreater             = (*Request)(nil)
	_ rest.GroupVersionKindProvider = (*Request)(nil)
)

// GroupVersionKind implements rest.GroupVersionKindProvider: the object is of another group than the account.
func (*Request) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
}

// New implements rest.Storage.
func (*Request) New() runtime.Object { return &authenticationv1.TokenRequest{} }

// Destroy implements rest.Storage.
func (*Request) Destroy() {}

// Create implements rest.NamedCreater. It errs with Invalid for a bad time or binding, NotFound for an account or
// object that is not there, Conflict for a UID that is not the object's.
func (r *Request) Create(ctx context.Context, name string, object runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	req, ok := object.(*authenticationv1.TokenRequest)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is no TokenRequest", object))
	}
	namespace := request.NamespaceValue(ctx)
	account, err := registry.Get[*corev1.ServiceAccount](ctx, r.Registry.ServiceAccounts, namespace, name)
	if err != nil {
		return nil, err
	}
	if req.UID != "" && req.UID != account.UID {
		return nil, apierrors.NewConflict(corev1.Resource("serviceaccounts"), name,
			fmt.Errorf("the UID in the token request (%s) is not that of the service account (%s)", req.UID, account.UID))
	}
	if validate != nil {
		// As it was sent: of a node, an audience that is left out is judged as the server's own.
		if err := validate(ctx, req.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	out := req.DeepCopy()
	r.complete(out, account)
	if err := check(out, account); err != nil {
		return nil, err
	}
	p, err := r.bind(ctx, out.Spec.BoundObjectRef, account)
	if err != nil || len(options.DryRun) > 0 {
		return out, err
	}
	return out, r.issue(ctx, out, p)
}

// complete fills in what the request leaves out.
func (r *Request) complete(req *authenticationv1.TokenRequest, account *corev1.ServiceAccount) {
	req.Name, req.Namespace, req.CreationTimestamp = account.Name, account.Namespace, metav1.Now()
	req.Status = authenticationv1.TokenRequestStatus{}
	if len(req.Spec.Audiences) == 0 {
		req.Spec.Audiences = r.Audiences
	}
	if req.Spec.ExpirationSeconds == nil {
		seconds := int64(DefaultSeconds)
		req.Spec.ExpirationSeconds = &seconds
	}
}

func check(req *authenticationv1.TokenRequest, account *corev1.ServiceAccount) error {
	path := field.NewPath("spec", "expirationSeconds")
	var faults field.ErrorList
	switch seconds := *req.Spec.ExpirationSeconds; {
	case seconds < MinSeconds:
		faults = append(faults, field.Invalid(path, seconds, "may not specify a duration less than 10 minutes"))
	case seconds > MaxSeconds:
		faults = append(faults, field.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	if len(faults) == 0 {
		return nil
	}
	return apierrors.NewInvalid(authenticationv1.SchemeGroupVersion.WithKind("TokenRequest").GroupKind(), account.Name, faults)
}

// issue signs the token into the status. Its ID goes into the audit event, so that later requests with it can be
// traced.
func (r *Request) issue(ctx context.Context, req *authenticationv1.TokenRequest, p private) error {
	now := time.Now()
	expires := now.Add(time.Duration(*req.Spec.ExpirationSeconds) * time.Second)
	c := claims{Private: p, Claims: jwt.Claims{
		Issuer:    r.Issuer.url,
		Subject:   serviceaccount.MakeUsername(p.Namespace, p.ServiceAccount.Name),
		Audience:  jwt.Audience(req.Spec.Audiences),
		Expiry:    jwt.NewNumericDate(expires),
		IssuedAt:  jwt.NewNumericDate(now),
		NotBefore: jwt.NewNumericDate(now),
		ID:        uuid.NewString(),
	}}
	token, err := r.Issuer.sign(c)
	if err != nil {
		return apierrors.NewInternalError(errors.New("the token could not be signed"))
	}
	audit.AddAuditAnnotation(ctx, serviceaccount.IssuedCredentialIDAuditAnnotationKey, "JTI="+c.ID)
	req.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(expires)}
	return nil
}
