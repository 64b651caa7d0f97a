// Package credprovider decides which credential plugins serve an image pull, for whom, and under which cache key.
//
// A kubelet that has no password for a registry asks credential provider plugins: small programs that read a request on
// standard input and write registry credentials to standard output. KEP-4412 lets them act for the workload: the
// request carries a service account token bound to the pod. This package holds what is pure about that: the
// configuration and all its rules, image patterns, image references, the selection of annotations, cache keys, the
// messages of the protocol, and the order in which credentials are tried.
//
//	matcher, err := credprovider.NewMatcher([][]string{{"*.example.io"}, {"registry.example.io/team"}})
//	providers := matcher.AppendMatches(nil, "registry.example.io/team/app") // [0 1]
//
// The sub-packages touch the world: configfile reads configuration files, plugin runs one plugin process, provider puts
// everything together for a pull, pulled keeps records of pulled images, audience is the API server's side, explain
// says why a pull has no credentials, and pluginsdk makes plugins.
//
// Spec: KEP-4412 (service account tokens for credential providers, v1.35), with KEP-2133 and KEP-2535 for what it
// stands on, and Kubernetes 1.36 where the texts are silent. A program that only needs to log in to one registry wants
// a Docker credential helper instead.
package credprovider
