// Package kubeletauthz maps requests to the kubelet's API to the authorization attributes that decide them.
//
// A kubelet that authorizes by webhook turns each request into one or two questions about the resource "nodes": may
// this user "get" "nodes/pods"? and if not, "nodes/proxy"? Which subresources, and in which order, depends on the path,
// on the Kubernetes version and on the KubeletFineGrainedAuthz gate (KEP-2862). This package is that mapping, as a pure
// function without allocation, for Kubernetes 1.31 to 1.37; a newer version is treated as 1.37, see [Minor.Known]:
//
//	mapper, err := kubeletauthz.New(kubeletauthz.Options{Node: "node-1", Minor: 36})
//	...
//	for attribute := range mapper.Map("GET", "/pods", "").All() {
//		fmt.Println(attribute.Verb, attribute.Subresource) // get pods, then get proxy
//	}
//
// It never cleans a path. One that is not clean, or that contains an escaped separator, asks for proxy only: never for
// a finer subresource than that of the handler which will serve it. With Options.HardenedVerbs a WebSocket GET to exec,
// attach, run or portForward asks for "create", so that "get nodes/proxy" reads and no longer runs commands.
//
// The sub-packages use it: authorize asks SubjectAccessReviews and caches the answers, middleware guards a net/http
// handler, rbac evaluates RBAC rules, privilege finds rules that are too wide and computes the smallest ones. The
// nested module apiserver adapts it to k8s.io/apiserver. To authorize requests to the API server itself, use
// k8s.io/apiserver.
package kubeletauthz
