// Package issuer is the login service of the stack: it gives people short-lived
// client certificates of the stack's authority, and service account tokens that it
// asks the API server for through TokenRequest.
//
// It listens on loopback, over TLS. The passwords are in memory and plain: it stands
// where an identity provider would.
package issuer
