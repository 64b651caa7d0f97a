package fields

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

// setAt sets the field of a row's path below v to something that the row does not allow, in the element of each list
// that pick chooses, and returns the field's path with its indices.
func setAt(v reflect.Value, path []string, shown string, pick func(n int) int) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return setAt(v.Elem(), path, shown, pick)
	}
	if len(path) == 0 {
		return shown + fill(v)
	}
	name, list := strings.CutSuffix(path[0], "[]")
	field := named(v, name)
	shown += "." + name
	if !list {
		return setAt(field, path[1:], shown, pick)
	}
	if field.Len() == 0 {
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
	}
	i := pick(field.Len())
	return setAt(field.Index(i), path[1:], place{shown: shown}.index(i).shown, pick)
}

// named returns the field of that name in JSON.
func named(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		switch jsonName(v.Type().Field(i)) {
		case name:
			return v.Field(i)
		case "":
			if found := named(v.Field(i), name); found.IsValid() {
				return found
			}
		}
	}
	return reflect.Value{}
}

// fill makes a field say something that no row allows, and returns what the path of a refusal has after it.
func fill(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.String:
		v.SetString("a$$b")
	case reflect.Map:
		key := reflect.ValueOf("example.com/x").Convert(v.Type().Key())
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		return `["example.com/x"]`
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type().Elem().Kind() == reflect.String {
			return "[0]" + fill(v.Index(0))
		}
	}
	return "" // a struct: a pointer to it was set, or a list of it has one
}

// refusable are the rows with a value that is refused; of a limited bool, that is the one which it does not list.
func refusable() []Row {
	return slices.DeleteFunc(Table(), func(r Row) bool { return r.Verdict == Honoured || r.Verdict == Ignored })
}

// wholeField is what the refusal of a refused field ends with: its elements and keys are not named one by one.
func wholeField(r Row, shown string) string {
	if r.Verdict == Refused {
		shown = strings.TrimSuffix(strings.TrimSuffix(shown, `["example.com/x"]`), "[0]")
	}
	return shown
}

// plainPod has several containers and volumes, with everything that the API server sets by default.
func plainPod() *corev1.Pod {
	p := &corev1.Pod{}
	mode, group := int32(0o644), int64(2000)
	yes, no := true, false
	grace, priority, none := int64(30), int32(0), corev1.HostPathUnset
	preempt := corev1.PreemptLowerPriority
	procMount := corev1.DefaultProcMount
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "example.com/app:v1", ImagePullPolicy: corev1.PullIfNotPresent, Args: []string{"sleep", "$(date)"},
			TerminationMessagePath: corev1.TerminationMessagePathDefault, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			Env: []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "N", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}},
			Resources: corev1.ResourceRequirements{
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
				Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceCPU: resource.MustParse("1m")},
			},
			Ports:        []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
			ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.NotRequired}},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
			SecurityContext: &corev1.SecurityContext{
				ProcMount: &procMount, AllowPrivilegeEscalation: &no, RunAsNonRoot: &yes,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined},
			},
		}
	}
	p.Spec = corev1.PodSpec{
		NodeName: "n1", RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: corev1.DefaultSchedulerName,
		ServiceAccountName: "default", DeprecatedServiceAccount: "default", TerminationGracePeriodSeconds: &grace, EnableServiceLinks: &yes,
		Priority: &priority, PreemptionPolicy: &preempt, HostUsers: &yes,
		SecurityContext: &corev1.PodSecurityContext{FSGroup: &group},
		Tolerations:     []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &grace}},
		InitContainers:  []corev1.Container{container("first")},
		Containers:      []corev1.Container{container("a"), container("b"), container("c")},
		Volumes: []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv", Type: &none}}},
			{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: &mode, Optional: &no}}},
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{DefaultMode: &mode}}},
		},
	}
	return p.DeepCopy() // no two fields share what they point to
}

func paths(refusals []Refusal) []string {
	out := []string{}
	for _, r := range refusals {
		out = append(out, r.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// invert makes a limited bool the one that its row does not list.
func invert(r Row) bool { return r.Verdict == Limited && slices.Equal(r.Values, []string{"true"}) }

func set1(p *corev1.Pod, r Row, asInit bool, pick func(n int) int) string {
	path := r.Path
	if asInit {
		path = strings.Replace(path, containerPrefix, initPrefix, 1)
	}
	shown := setAt(reflect.ValueOf(&p.Spec), strings.Split(path, "."), "spec", pick)
	if invert(r) {
		*p.Spec.HostUsers = false // the table's only one, and TestEveryRefusableField fails with another
	}
	return wholeField(r, shown)
}

func TestEveryRefusableField(t *testing.T) {
	t.Run("STK-10 a pod with what the API server sets by default is taken", func(t *testing.T) {
		if got := Check(plainPod()); len(got) != 0 {
			t.Errorf("Check = %v, want none", got)
		}
	})
	for _, r := range refusable() {
		for _, asInit := range []bool{false, true} {
			if asInit && !strings.HasPrefix(r.Path, containerPrefix) {
				continue
			}
			p := plainPod()
			want := set1(p, r, asInit, func(int) int { return 0 })
			t.Run("STK-10 "+want+" is refused, and nothing else", func(t *testing.T) {
				if got := paths(Check(p)); !slices.Equal(got, []string{want}) {
					t.Errorf("Check = %v, want %s alone", got, want)
				}
			})
		}
	}
}

// TestCheckNamesAllFields sets any refusable fields at any places of a pod: exactly those are refused, and the pod
// stays as it was.
func TestCheckNamesAllFields(t *testing.T) {
	t.Run("STK-10 a pod is refused for exactly the fields that would be dropped", func(t *testing.T) { rapid.Check(t, checkNamesAll) })
}

func checkNamesAll(t *rapid.T) {
	p := plainPod()
	want := []string{}
	for _, r := range rapid.SliceOfNDistinct(rapid.SampledFrom(refusable()), 0, 12, func(r Row) string { return r.Path }).Draw(t, "rows") {
		asInit := strings.HasPrefix(r.Path, containerPrefix) && rapid.Bool().Draw(t, "init")
		want = append(want, set1(p, r, asInit, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "index") }))
	}
	slices.Sort(want)
	before := p.DeepCopy()
	if got := paths(Check(p)); !slices.Equal(got, want) {
		t.Errorf("Check = %v, want %v", got, want)
	}
	if !reflect.DeepEqual(p, before) {
		t.Error("Check changed the pod")
	}
}
