package kubelet

import (
	"context"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/apiserver"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
)

// guarded puts the guard around the API: who asks is learnt from a client
// certificate or a token, whether they may is the API server's answer.
func (k *Kubelet) guarded(client kubernetes.Interface, gate featuregate.FeatureGate, api http.Handler) (http.Handler, error) {
	who, err := authentication(client, k.config.ClientCAFile)
	if err != nil {
		return nil, err
	}
	mapper, err := k.mapper(gate)
	if err != nil {
		return nil, err
	}
	guard, err := middleware.New(middleware.Options{
		Authenticator: apiserver.Authenticator(who),
		Authorizer:    k.authorizer(client),
		Mapper:        mapper,
		Logger:        k.log,
	})
	if err != nil {
		return nil, err
	}
	return guard(api), nil
}

func (k *Kubelet) mapper(gate featuregate.FeatureGate) (kubeletauthz.Mapper, error) {
	o := kubeletauthz.Options{
		Node: k.config.NodeName, Minor: kubeletauthz.Minor(k.config.minor()), HardenedVerbs: k.config.HardenedVerbs,
	}
	if o.Minor.HasGate() {
		o.Gate = kubeletauthz.GateOff
		if gate.Enabled(gates.FineGrainedAuthz) {
			o.Gate = kubeletauthz.GateOn
		}
	}
	return kubeletauthz.New(o)
}

func (k *Kubelet) authorizer(client kubernetes.Interface) middleware.Authorizer {
	if k.config.Authorization == AlwaysAllow {
		return authorize.AlwaysAllow{}
	}
	return authorize.New(authorize.NewCache(reviewer(client), authorize.CacheOptions{
		AllowTTL: k.config.CacheAuthorizedTTL.Duration,
		DenyTTL:  k.config.CacheUnauthorizedTTL.Duration,
	}), authorize.Options{})
}

// reviewer asks the API server with the kubelet's own client.
func reviewer(client kubernetes.Interface) authorize.ReviewerFunc {
	return func(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
		if err != nil {
			return authorizationv1.SubjectAccessReviewStatus{}, err
		}
		return review.Status, nil
	}
}
