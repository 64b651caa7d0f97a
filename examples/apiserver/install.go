package apiserver

import (
	"maps"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/lanyard-dev/lanyard/examples/apiserver/connect"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/examples/apiserver/reviews"
	"github.com/lanyard-dev/lanyard/examples/apiserver/tokens"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// install adds every API group and the paths beside them.
func (p *parts) install(server *genericapiserver.GenericAPIServer) error {
	for _, version := range kinds.GroupVersions() {
		info := p.group(version)
		install := server.InstallAPIGroup
		if version.Group == "" {
			install = func(info *genericapiserver.APIGroupInfo) error {
				return server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, info)
			}
		}
		if err := install(&info); err != nil {
			return err
		}
	}
	server.Handler.NonGoRestfulMux.Handle("/metrics", p.metrics.handler())
	return p.issuer.Install(server.Handler.NonGoRestfulMux, p.url)
}

func (p *parts) group(version schema.GroupVersion) genericapiserver.APIGroupInfo {
	options := schema.GroupVersion{Version: "v1"}
	return genericapiserver.APIGroupInfo{
		PrioritizedVersions:          []schema.GroupVersion{version},
		VersionedResourcesStorageMap: map[string]map[string]rest.Storage{version.Version: p.resources(version)},
		OptionsExternalVersion:       &options,
		Scheme:                       p.kinds.Scheme,
		ParameterCodec:               runtime.NewParameterCodec(p.kinds.Scheme),
		NegotiatedSerializer:         p.kinds.Codecs,
	}
}

// resources are what is stored, what is connected and what is reviewed.
func (p *parts) resources(version schema.GroupVersion) map[string]rest.Storage {
	found := p.registry.Storage(version)
	switch version {
	case corev1.SchemeGroupVersion:
		maps.Copy(found, p.connections())
		found["serviceaccounts/token"] = &tokens.Request{Issuer: p.issuer, Audiences: p.authn.audiences, Registry: p.registry}
	case authenticationv1.SchemeGroupVersion:
		return reviews.Authentication(p.authn.requests, p.authn.audiences)
	case authorizationv1.SchemeGroupVersion:
		return reviews.Authorization(p.authz, p.rbac)
	}
	return found
}

// connections are the subresources that lead to kubelets.
func (p *parts) connections() map[string]rest.Storage {
	pods := connect.Pods{Store: p.registry.Pods, Kubelets: p.kubelets}
	env := execapi.Exec{Gates: p.exec, Reserved: p.options.Reserved, Recorder: p.metrics}
	return map[string]rest.Storage{
		"pods/exec":        &connect.Exec{Pods: pods, Authorizer: p.authz, Env: env},
		"pods/attach":      &connect.Attach{Pods: pods, Authorizer: p.authz},
		"pods/portforward": &connect.PortForward{Pods: pods, Authorizer: p.authz},
		"pods/log":         &connect.Log{Pods: pods},
		"nodes/proxy":      &connect.NodeProxy{Kubelets: p.kubelets, Env: env},
	}
}
