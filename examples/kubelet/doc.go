// Package kubelet is the reference kubelet: it takes the pods that the API server
// binds to its node, runs them through any CRI runtime, and serves exec, attach,
// port-forward and logs to the API server over TLS.
//
// It is wiring. Who may call is kubeletauthz's answer, with which environment an
// exec runs execaudit's, with which groups a container starts supgroups', with
// which credentials an image is pulled credprovider's. State is in the API server
// and in the runtime: a kubelet can be killed at any moment and goes on.
package kubelet
