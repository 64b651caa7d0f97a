// Package kubernetes is nothing but a place for the main functions of a real Kubernetes and its etcd, in cmd:
// unmodified, at the versions that go.mod pins. They are a module of their own because of its replaces, which would
// move every other module.
package kubernetes
