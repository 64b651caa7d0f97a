package pods

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// environment returns the container's own entries in the order of its spec.
func (m *Manager) environment(ctx context.Context, pod *corev1.Pod, c *corev1.Container) ([]*runtimeapi.KeyValue, error) {
	if len(c.EnvFrom) > 0 {
		return nil, errors.New("envFrom is not supported by this kubelet")
	}
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
		secret, err := m.Client.CoreV1().Secrets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		value, there := secret.Data[ref.Key]
		return source{"secret", ref.Name, ref.Key, ref.Optional}.choose(string(value), there, err)
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		config, err := m.Client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		value, there := config.Data[ref.Key]
		return source{"config map", ref.Name, ref.Key, ref.Optional}.choose(value, there, err)
	}
	return "", false, errors.New("its source is not supported by this kubelet")
}

// source is the key of an object that an entry takes its value from.
type source struct {
	kind, name, key string
	optional        *bool
}

// choose returns the value that was found, or why there must be one and is none.
func (s source) choose(value string, there bool, err error) (string, bool, error) {
	missing := apierrors.IsNotFound(err) || err == nil && !there
	switch {
	case missing && s.optional != nil && *s.optional:
		return "", false, nil
	case err != nil:
		return "", false, err
	case !there:
		return "", false, fmt.Errorf("%s %q has no key %q", s.kind, s.name, s.key)
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
