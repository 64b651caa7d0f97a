// Package podlist reads pods: one from a manifest, or many from `kubectl get pods -A -o json`, one at a time.
package podlist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// MaxManifestBytes is the largest manifest of one pod.
const MaxManifestBytes = 4 << 20 // 4 MiB

var (
	// ErrNotPod means a manifest of another kind.
	ErrNotPod = errors.New("not a pod")
	// ErrNotList means a dump that is no list of pods.
	ErrNotList = errors.New("not a list of pods")
	// ErrTooLarge means a manifest of more than MaxManifestBytes.
	ErrTooLarge = errors.New("manifest too large")
)

// One reads a pod's manifest, YAML or JSON.
func One(r io.Reader) (*corev1.Pod, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxManifestBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxManifestBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, MaxManifestBytes)
	}
	var pod corev1.Pod
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return nil, err
	}
	if pod.Kind != "" && pod.Kind != "Pod" {
		return nil, fmt.Errorf("%w: kind %q", ErrNotPod, pod.Kind)
	}
	return &pod, nil
}

// Each calls yield for every pod of a JSON list, holding one at a time, and stops at its first error. Items of another
// kind are ErrNotPod; a dump without items is ErrNotList.
func Each(r io.Reader, yield func(*corev1.Pod) error) error {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(ErrNotList, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key == "items" {
			return items(d, yield)
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: no items", ErrNotList)
}

func items(d *json.Decoder, yield func(*corev1.Pod) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(ErrNotList, err)
	}
	for i := 0; d.More(); i++ {
		var pod corev1.Pod
		if err := d.Decode(&pod); err != nil {
			return fmt.Errorf("items[%d]: %w", i, err)
		}
		if pod.Kind != "" && pod.Kind != "Pod" {
			return fmt.Errorf("items[%d]: %w: kind %q", i, ErrNotPod, pod.Kind)
		}
		if err := yield(&pod); err != nil {
			return err
		}
	}
	// The closing bracket tells a list that ends from one that was cut off.
	_, err := d.Token()
	return err
}
