// Package apiserver adapts kubeletauthz to the interfaces of k8s.io/apiserver, in both directions.
//
// A kubelet built on k8s.io/apiserver takes a [Getter] in place of its own attribute getter and keeps everything else.
// A server that guards itself with kubeletauthz/middleware takes its [Authenticator] from k8s.io/apiserver's
// authenticators, and may let one of its authorizers answer as a [Reviewer]. An API server takes [RBAC] for its
// authorizer.
//
// It works with k8s.io/apiserver v0.36 and v0.37, whose authorizers differ in methods that it does not use.
package apiserver
