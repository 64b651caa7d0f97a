// Package podlist reads pods: those of a manifest, or many from `kubectl get pods -A -o json`, one at a time. Nothing
// in the input is silently ignored: what is not a pod is an error that names its place.
package podlist

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

var (
	// ErrNotPod means something that is not a pod in a place for pods.
	ErrNotPod = errors.New("not a pod")
	// ErrNotList means a dump that is not a list of pods.
	ErrNotList = errors.New("not a list of pods")
	// ErrPartial means a list that is one chunk of a longer one.
	ErrPartial = errors.New("only a part of a list")
	// ErrTooLarge means a manifest of more than MaxManifestBytes or MaxItems.
	ErrTooLarge = errors.New("manifest too large")
	// ErrNoPods means an empty manifest.
	ErrNoPods = errors.New("no pod in the manifest")
	// ErrSeveral means a document that goes on after its end, without a line "---" between.
	ErrSeveral = errors.New("more than one document without a line \"---\" between")
)

// kinds of lists that hold pods; the API leaves the kind out where it is known from the request.
var listKinds = []string{"", "List", "PodList"}

func checkList(kind string) error {
	if !slices.Contains(listKinds, kind) {
		return fmt.Errorf("%w: kind %q", ErrNotList, kind)
	}
	return nil
}

// checkPod refuses another kind, and an object with neither a kind nor a container: every pod has one.
func checkPod(pod *corev1.Pod) error {
	switch {
	case pod.Kind == "Pod":
		return nil
	case pod.Kind != "":
		return fmt.Errorf("%w: kind %q", ErrNotPod, pod.Kind)
	case len(pod.Spec.Containers) == 0:
		return fmt.Errorf("%w: neither a kind nor containers", ErrNotPod)
	}
	return nil
}
