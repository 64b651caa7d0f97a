// Package middleware guards the kubelet's API in a net/http handler chain.
//
//	guard, err := middleware.New(middleware.Options{
//		Authenticator: authenticator, Mapper: mapper, Authorizer: authorizer,
//	})
//	server := &http.Server{Handler: guard(mux)}
//
// Refusals have the kubelet's own status codes and bodies, which agents and dashboards read: 401 Unauthorized; 403
// Forbidden with user, verb and subresources; 500 when a question was not answered. After a failure the next handler
// does not run. An Authenticator or an Authorizer that panics refuses like one that returns an error; a panic of the
// next handler is left to the server.
//
// Put the guard directly around the router: anything between the two that rewrites the path would run another handler
// than the one that was authorized. It passes the ResponseWriter on as it is, so WebSocket and SPDY upgrades work. With
// go-restful it is a filter by restful.HttpMiddlewareHandlerToFilter(guard).
//
// A kubelet without authorization uses authorize.AlwaysAllow; one without authentication (the read-only port) needs no
// guard.
//
// Source: KEP-2862, Design Details; bodies as in the kubelet of Kubernetes 1.36.
package middleware
