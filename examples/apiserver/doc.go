// Package apiserver is the reference API server: k8s.io/apiserver's generic server with the resources that identity at
// the node needs, state in memory, RBAC, audit, service account tokens, and exec sessions that carry their audit ID to
// the node (KEP-6035).
//
//	server, err := apiserver.New(apiserver.Options{…})
//	err = server.Run(ctx) // until ctx ends
//
// It is a reference, not a cluster: there are no controllers, no scheduler, no server-side apply, no aggregation and no
// admission webhooks, and whoever may write roles may give any right away, since nothing checks for escalation.
//
// An exec passes, in this order: the check of a client's Audit-ID, authentication, audit, authorization, admission (the
// caller's plugins, which see Env as a list), validation by execaudit, injection, and the kubelet. Environment values
// are in no log and in no audit event.
package apiserver
