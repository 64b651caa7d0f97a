// Package kubelet is the kubelet's edge of supgroups: a pod in, CRI fields out, and a container's status back.
//
// It does what Kubernetes's own kubelet does with the fields of KEP-3619: it decides which value wins between pod and
// container, what is filled in from the image, and in which order groups are sent. Admission is in package admission.
package kubelet
