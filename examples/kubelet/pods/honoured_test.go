package pods

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/lanyard-dev/lanyard/examples/kubelet/fields"
)

// elsewhere are the honoured fields that the requests to the runtime do not show, and what shows them.
var elsewhere = map[string]string{
	"nodeName":         "the informer's selector in New",
	"runtimeClassName": "runtime_handler of the request, which ensureSandbox makes",
}

// TestHonoured changes each honoured field of a pod in turn: the requests to the runtime change with it.
func TestHonoured(t *testing.T) {
	root := t.TempDir()
	before := requests(t, root, fullPod())
	if strings.Contains(before, "error:") {
		t.Fatalf("the plain pod cannot be made: %s", before)
	}
	for _, r := range fields.Table() {
		if r.Verdict != fields.Honoured || elsewhere[r.Path] != "" {
			continue
		}
		t.Run("STK-10 "+r.Path+" changes what the runtime is asked for", func(t *testing.T) {
			for container := range 2 {
				for index := range 5 {
					p := fullPod()
					if alter(reflect.ValueOf(&p.Spec), strings.Split(r.Path, "."), container, index) && requests(t, root, p) != before {
						return
					}
				}
			}
			t.Errorf("%s is honoured by the table (%s), and no request shows it", r.Path, r.Why)
		})
	}
	t.Run("STK-10 fieldRef has every field that the table lists", func(t *testing.T) {
		p := fullPod()
		for _, path := range fields.FieldPaths() {
			if got, err := podField(p, path); got == "" || err != nil {
				t.Errorf("podField(%s) = %q, %v, want a value", path, got, err)
			}
		}
	})
}

// requests is what the runtime is asked for, or why it is not.
func requests(t *testing.T, root string, p *corev1.Pod) string {
	t.Helper()
	data := map[string][]byte{"key": []byte("value")}
	m := &Manager{Options: Options{Root: root, Client: fake.NewClientset(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: p.Namespace}, Data: data},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: p.Namespace}, Data: map[string]string{"key": "text"}, BinaryData: map[string][]byte{"bytes": {0xff}}},
	)}}
	var out strings.Builder
	add := func(what any, err error) {
		if err != nil {
			what = fmt.Sprintf("error: %v", err)
		}
		fmt.Fprintln(&out, what)
	}
	add(m.sandboxConfig(p, 0))
	for _, c := range allContainers(p) {
		add(m.containerConfig(t.Context(), p, c, 0, c.Image, nil))
	}
	return out.String()
}

// alter changes a field to another value, of that container or in that element of another list, and reports whether
// there is one.
func alter(v reflect.Value, path []string, container, index int) bool {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			if v.Type().Elem().Kind() == reflect.Struct {
				return false // one of several kinds, and not that of this element
			}
			v.Set(reflect.New(v.Type().Elem()))
		}
		return alter(v.Elem(), path, container, index)
	}
	if len(path) == 0 {
		another(v)
		return true
	}
	name, list := strings.CutSuffix(path[0], "[]")
	v = v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
	if !list {
		return alter(v, path[1:], container, index)
	}
	i := index
	if name == "containers" {
		i = container
	}
	return i < v.Len() && alter(v.Index(i), path[1:], container, index)
}

func another(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
		another(v.Index(v.Len() - 1))
	}
}

// fullPod has something in every list, so that each field can be altered.
func fullPod() *corev1.Pod {
	yes, no, user, root := true, false, int64(1000), int64(0)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u"}}
	secretKey := func(key string, optional *bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: key, Optional: optional}}
	}
	configKey := func(key string, optional *bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: key, Optional: optional}}
	}
	p.Spec = corev1.PodSpec{
		NodeName: "n", ServiceAccountName: "account",
		SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user, RunAsGroup: &user},
		Volumes: []corev1.Volume{
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}}},
			{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}},
		},
		Containers: []corev1.Container{{
			Name: "a", Image: "example.com/a:v1",
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{}},
			Env: []corev1.EnvVar{
				{Name: "ACCOUNT", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.serviceAccountName"}}},
				{Name: "SECRET", ValueFrom: secretKey("key", nil)},
				{Name: "CONFIG", ValueFrom: configKey("key", nil)},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "host", MountPath: "/host"}, {Name: "secret", MountPath: "/secret"}, {Name: "config", MountPath: "/config"}},
		}, {
			Name: "b", Image: "example.com/b:v1",
			SecurityContext: &corev1.SecurityContext{RunAsUser: &root},
			Env:             []corev1.EnvVar{{Name: "NO_SECRET", ValueFrom: secretKey("none", &yes)}, {Name: "NO_CONFIG", ValueFrom: configKey("none", &yes)}},
		}},
	}
	return p.DeepCopy() // no two fields share what they point to
}
