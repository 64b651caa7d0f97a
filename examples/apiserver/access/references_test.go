package access

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestReferences has every place of a pod from which a node may follow it to an object.
func TestReferences(t *testing.T) {
	to := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	env := func(name string) corev1.Container {
		return corev1.Container{
			EnvFrom: []corev1.EnvFromSource{
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: to(name + "-from")}},
				{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: to(name + "-from")}},
			},
			Env: []corev1.EnvVar{
				{Name: "PLAIN", Value: "x"},
				{Name: "FIELD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}}},
				{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: to(name + "-key")}}},
				{Name: "CONFIG", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: to(name + "-key")}}},
			},
		}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		ImagePullSecrets: []corev1.LocalObjectReference{to("pull")},
		InitContainers:   []corev1.Container{env("init")},
		Containers:       []corev1.Container{env("app")},
		Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "volume"}}},
			{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: to("volume")}}},
			{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: to("projected")}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: to("projected")}},
			}}}},
		},
	}}
	shared := []string{"app-from", "app-key", "init-from", "init-key", "projected", "volume"}
	for _, c := range []struct {
		name string
		of   func(*corev1.Pod) []string
		want []string
	}{
		{"secrets", secretsOf, append([]string{"pull"}, shared...)},
		{"config maps", configMapsOf, shared},
		{"claims", claimsOf, []string{"claim"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, want := slices.Sorted(slices.Values(c.of(pod))), slices.Sorted(slices.Values(c.want))
			if !slices.Equal(got, want) {
				t.Errorf("references = %v, want %v", got, want)
			}
			if got := c.of(&corev1.Pod{}); got != nil {
				t.Errorf("references of an empty pod = %v, want none", got)
			}
		})
	}
}
