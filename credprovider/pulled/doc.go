// Package pulled remembers which images were pulled to a node, and with whose credentials, so that another workload
// does not get an image for free that it could not have pulled itself.
//
//	store, err := pulled.Open("/var/lib/kubelet", pulled.Options{})
//	if store.MustPull(image, imageRef, policy, holder) {
//		err = store.Begin(image)
//		... pull ...
//		err = store.Complete(image, imageRef, pulled.From(credential))
//	}
//
// A pull writes an intent first and a record before it takes the intent away. Whatever happens between, an image that
// is on the node is known to have been pulled, and never taken for one that was there from the start.
//
// Files, their names and their JSON are upstream's: <dir>/image_manager/pulling and pulled,
// kubelet.config.k8s.io/v1beta1.
//
// Spec: KEP-2535 (ensure secret pulled images), with KEP-4412, How will this work with the Ensure secret pull images
// KEP.
package pulled
