package connect

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// sessionMethods are those that open a session: POST for SPDY, GET for WebSocket.
var sessionMethods = [...]string{http.MethodGet, http.MethodPost}

// mayCreate asks for create when a session is opened by GET: a WebSocket begins with a GET, and whoever may only read
// pods may not run commands in them (as in Kubernetes since 1.35).
func mayCreate(ctx context.Context, a authorizer.Authorizer) error {
	info, ok := request.RequestInfoFrom(ctx)
	if !ok || info.Verb == "create" {
		return nil
	}
	attributes, err := filters.GetAuthorizerAttributes(ctx)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	decision, reason, err := a.Authorize(ctx, asCreate{attributes})
	if decision == authorizer.DecisionAllow {
		return nil
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	resource := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource + "/" + info.Subresource}
	return apierrors.NewForbidden(resource, info.Name, fmt.Errorf("a session needs the verb create: %s", reason))
}

// asCreate is a request as if it were a create.
type asCreate struct {
	authorizer.Attributes
}

func (asCreate) GetVerb() string  { return "create" }
func (asCreate) IsReadOnly() bool { return false }
