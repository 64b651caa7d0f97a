// Package namespace makes a pod's shared namespaces and keeps them without a process: each is bound to a file, so that
// it outlives every container and the runtime itself. Only a shared PID namespace needs a process, its init.
package namespace
