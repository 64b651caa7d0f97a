// Package kubelet is the kubelet's part of KEP-6035: it reads the environment
// from an exec request's URL, refuses reserved names from identities that may
// not send them, and resolves what goes into ExecRequest.envs.
//
//	envs, err := exec.Read(r.URL.RawQuery, kubelet.Identity{Name: user, Groups: groups})
//	envs = kubelet.Resolve(own, envs, exec.Reserved)
//
// Only the URL's query is read, never a body.
package kubelet
