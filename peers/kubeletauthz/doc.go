// Package kubeletauthz sets our mapping of kubelet requests and our RBAC rules beside those of k8s.io/kubernetes
// v1.36.3: the same answers, and what each costs.
package kubeletauthz
