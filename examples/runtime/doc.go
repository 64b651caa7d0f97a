// Package runtime is the reference container runtime: a CRI server that runs real containers through runc. It exists to
// show runtime authors how Lanyard's modules fit together, and to be the node's runtime in tests and in the demo. It is
// wiring; what decides is in the modules:
//
//   - execaudit/streaming carries ExecRequest.envs to the stream, in the container ID,
//   - envprecedence merges it with the container's environment,
//   - execaudit/journal records who started which process, with the kernel's mark of each session, by which
//     execaudit/agent knows its processes,
//   - supgroups says as which user and in which groups a container starts.
//
// State lives in one directory. Each container has a monitor process (package shim), so that the runtime may be
// stopped, killed and started again while containers run: [New] reads the directory and goes on.
//
//	s, err := runtime.New(runtime.Config{Root: dir, Socket: sock, Runc: runc, Monitor: monitor})
//	…
//	defer s.Close()
//	err = s.Serve(ctx)
//
// It is not meant for production: no CNI, no seccomp, no user namespaces, no checkpoints.
package runtime
