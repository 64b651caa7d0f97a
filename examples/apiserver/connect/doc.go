// Package connect carries requests on to kubelets: pods/exec, attach, portforward and log, and nodes/proxy.
//
// The server speaks to kubelets over TLS with a client certificate of its own; nothing of the caller's identity goes
// with it but the audit ID that package execaudit/apiserver injects. Today's clients open WebSockets of version 5,
// which are translated to the SPDY that kubelets and runtimes understand.
package connect
