package pods

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// environment returns the container's own entries in the order of its spec.
func (m *Manager) environment(ctx context.Context, pod *corev1.Pod, c *corev1.Container) ([]*runtimeapi.KeyValue, error) {
	var out []*runtimeapi.KeyValue
	for _, e := range c.Env {
		value, found, err := m.value(ctx, pod, e)
		if err != nil {
			return nil, fmt.Errorf("environment variable %q: %w", e.Name, err)
		}
		if found {
			out = append(out, &runtimeapi.KeyValue{Key: e.Name, Value: []byte(value)})
		}
	}
	return out, nil
}

// value returns an entry's value, and false for an optional one whose source is
// not there.
func (m *Manager) value(ctx context.Context, pod *corev1.Pod, e corev1.EnvVar) (string, bool, error) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return e.Value, true, nil
	case from.FieldRef != nil:
		value, err := podField(pod, from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		secret, err := m.client.CoreV1().Secrets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		value, there := secret.Data[ref.Key]
		return optional(string(value), there, ref.Optional, err, "secrets", ref.Name, ref.Key)
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		config, err := m.client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		value, there := config.Data[ref.Key]
		return optional(value, there, ref.Optional, err, "configmaps", ref.Name, ref.Key)
	}
	return "", false, fmt.Errorf("its source is not supported by this kubelet")
}

func optional(value string, there bool, mayMiss *bool, err error, resource, name, key string) (string, bool, error) {
	missing := apierrors.IsNotFound(err) || err == nil && !there
	switch {
	case missing && mayMiss != nil && *mayMiss:
		return "", false, nil
	case err != nil:
		return "", false, err
	case !there:
		return "", false, fmt.Errorf("%s has no key %q", schema.GroupResource{Resource: resource}.String()+"/"+name, key)
	}
	return value, true, nil
}

func podField(pod *corev1.Pod, path string) (string, error) {
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.hostIP":
		return loopback, nil
	}
	return "", fmt.Errorf("field %q is not supported by this kubelet", path)
}
