package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
)

func TestDefaults(t *testing.T) {
	c := start(t, func(*apiserver.Options) {})
	p := pod("defaulted", "n1", "c")
	p.Spec.Volumes = []corev1.Volume{
		{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
		{Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
		{Name: "d", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{}}},
		{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}},
		{Name: "p", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
		}}}},
	}
	p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
	got := must(c.client(t, c.admin()).CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}))(t)
	t.Run("STK-13 a pod gets the defaults that a real kubelet relies on", func(t *testing.T) {
		v := got.Spec.Volumes
		for i, mode := range []*int32{v[0].Secret.DefaultMode, v[1].ConfigMap.DefaultMode, v[2].DownwardAPI.DefaultMode, v[4].Projected.DefaultMode} {
			if mode == nil || *mode != 0o644 {
				t.Errorf("mode %d is %v, want 0644", i, mode)
			}
		}
		if v[3].HostPath.Type == nil || *v[3].HostPath.Type != corev1.HostPathUnset {
			t.Errorf("the host path's type is %v, want an empty one", v[3].HostPath.Type)
		}
		if s := v[4].Projected.Sources[0].ServiceAccountToken.ExpirationSeconds; s == nil || *s != 3600 {
			t.Errorf("the token's life is %v, want an hour", s)
		}
		if version := got.Spec.Containers[0].Env[0].ValueFrom.FieldRef.APIVersion; version != "v1" {
			t.Errorf("the field reference's version is %q, want v1", version)
		}
	})
}
