package apiserver

import (
	"context"
	"net/http"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Getter gives the attributes of requests to a kubelet. It has the method of the kubelet's NodeRequestAttributesGetter.
type Getter struct {
	// Mapper maps requests of the kubelet's version, gate and node.
	Mapper kubeletauthz.Mapper
}

// GetRequestAttributes returns one or two attributes in the order to ask them, in a new slice. Each is a request for a
// resource that keeps the request's path.
func (g Getter) GetRequestAttributes(_ context.Context, u user.Info, r *http.Request) []authorizer.Attributes {
	mapped := g.Mapper.Map(r.Method, r.URL.Path, r.URL.RawPath)
	attributes := make([]authorizer.Attributes, 0, mapped.Len())
	for a := range mapped.All() {
		attributes = append(attributes, record(u, a, r.URL.Path))
	}
	return attributes
}

// record is a request for a resource that keeps the path it came from.
func record(u user.Info, a kubeletauthz.Attribute, path string) authorizer.Attributes {
	return authorizer.AttributesRecord{
		User:            u,
		Verb:            a.Verb,
		APIVersion:      a.APIVersion,
		Resource:        a.Resource,
		Subresource:     a.Subresource,
		Name:            a.Name,
		ResourceRequest: true,
		Path:            path,
	}
}
