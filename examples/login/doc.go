// Package login is how the stack's example plugin asks for a credential: one
// request with a name and a password over TLS, one answer that is good for a
// short while. It is the client's side, in the standard library and the SDK only,
// so that the plugin is small; login/issuer is the service.
package login
