package access

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/lanyard-dev/lanyard/credprovider/audience"
	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// lookup finds what the audience check reads.
type lookup struct {
	registry *registry.Registry
}

func (l lookup) Pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return registry.Get[*corev1.Pod](ctx, l.registry.Pods, namespace, name)
}

func (l lookup) Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return registry.Get[*corev1.PersistentVolumeClaim](ctx, l.registry.PersistentVolumeClaims, namespace, name)
}

func (l lookup) Volume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	return registry.Get[*corev1.PersistentVolume](ctx, l.registry.PersistentVolumes, metav1.NamespaceNone, name)
}

func (l lookup) Driver(ctx context.Context, name string) (*storagev1.CSIDriver, error) {
	return registry.Get[*storagev1.CSIDriver](ctx, l.registry.CSIDrivers, metav1.NamespaceNone, name)
}

// audiences asks the server's authorizer on behalf of the audience check.
type audiences struct {
	authorizer authorizer.Authorizer
}

// Authorize implements audience.Authorizer.
func (a audiences) Authorize(ctx context.Context, q audience.Attributes) (bool, string, error) {
	decision, reason, err := a.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: q.User.Name, UID: q.User.UID, Groups: q.User.Groups, Extra: q.User.Extra},
		Verb: q.Verb, APIGroup: q.APIGroup, APIVersion: q.APIVersion, Resource: q.Resource,
		Namespace: q.Namespace, Name: q.Name, ResourceRequest: true,
	})
	return decision == authorizer.DecisionAllow, reason, err
}
