package admission_test

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

func ptr[T any](v T) *T { return &v }

const (
	merge  = corev1.SupplementalGroupsPolicyMerge
	strict = corev1.SupplementalGroupsPolicyStrict
)

// TestMatrix is the table of the KEP's Version Skew Strategy, row by row.
func TestMatrix(t *testing.T) {
	on, off, absent := true, false, false
	rows := []struct {
		minors    []admission.Minor
		gate      bool
		supported bool
		strict    bool
		effective corev1.SupplementalGroupsPolicy
		rejected  bool
		reported  bool
	}{
		{[]admission.Minor{28, 30}, absent, true, true, merge, false, false},
		{[]admission.Minor{28, 30}, absent, true, false, merge, false, false},
		{[]admission.Minor{28, 30}, absent, false, true, merge, false, false},
		{[]admission.Minor{28, 30}, absent, false, false, merge, false, false},
		{[]admission.Minor{31, 32}, on, true, true, strict, false, true},
		{[]admission.Minor{31, 32}, on, true, false, merge, false, true},
		{[]admission.Minor{31, 32}, on, false, true, merge, false, false},
		{[]admission.Minor{31, 32}, on, false, false, merge, false, false},
		{[]admission.Minor{31, 32}, off, true, true, strict, false, false},
		{[]admission.Minor{31, 32}, off, true, false, merge, false, false},
		{[]admission.Minor{31, 32}, off, false, true, merge, false, false},
		{[]admission.Minor{31, 32}, off, false, false, merge, false, false},
		{[]admission.Minor{33, 34, 35, 37}, on, true, true, strict, false, true},
		{[]admission.Minor{33, 34, 35, 37}, on, true, false, merge, false, true},
		{[]admission.Minor{33, 34, 35, 37}, on, false, true, "", true, false},
		{[]admission.Minor{33, 34, 35, 37}, on, false, false, merge, false, false},
		{[]admission.Minor{33, 34}, off, true, true, strict, false, false},
		{[]admission.Minor{33, 34}, off, true, false, merge, false, false},
		{[]admission.Minor{33, 34}, off, false, true, "", true, false},
		{[]admission.Minor{33, 34}, off, false, false, merge, false, false},
	}
	for _, r := range rows {
		for _, minor := range r.minors {
			name := fmt.Sprintf("GRP-14 %s gate=%v runtime=%v strict=%v", minor, r.gate, r.supported, r.strict)
			t.Run(name, func(t *testing.T) {
				setting := admission.GateDefault
				if minor >= admission.MinorAlpha {
					setting = onOrOff(r.gate)
				}
				kubelet := component(t, minor, setting)
				want := admission.Decision{Effective: r.effective, Rejected: r.rejected, UserReported: r.reported}
				if r.rejected {
					want.Reason = "SupplementalGroupsPolicyNotSupported"
					want.Message = "Error: SupplementalGroupsPolicy is not supported in this node."
				}
				for _, feature := range features(r.supported) {
					for _, policy := range policies(r.strict) {
						if got := admission.Admit(kubelet, feature, policy); got != want {
							t.Errorf("Admit(…) = %+v, want %+v", got, want)
						}
					}
				}
			})
		}
	}
}

// features are the node's values that mean the same to admission.
func features(supported bool) []*bool {
	if supported {
		return []*bool{ptr(true)}
	}
	return []*bool{nil, ptr(false)}
}

func policies(isStrict bool) []*corev1.SupplementalGroupsPolicy {
	if isStrict {
		return []*corev1.SupplementalGroupsPolicy{ptr(strict)}
	}
	return []*corev1.SupplementalGroupsPolicy{nil, ptr(merge)}
}

func TestRejection(t *testing.T) {
	t.Run("GRP-15 reason, message and metric are the KEP's", func(t *testing.T) {
		d := admission.Admit(admission.Component{}, nil, ptr(strict))
		if !d.Rejected || d.Reason != "SupplementalGroupsPolicyNotSupported" || d.Message != "Error: SupplementalGroupsPolicy is not supported in this node." {
			t.Errorf("Admit(…) = %+v", d)
		}
		if admission.MetricName != "kubelet_admission_rejections_total" || admission.MetricLabel != "reason" {
			t.Errorf("metric %s{%s}", admission.MetricName, admission.MetricLabel)
		}
	})
}

func onOrOff(on bool) admission.Gate {
	if on {
		return admission.GateOn
	}
	return admission.GateOff
}

func component(tb testing.TB, minor admission.Minor, gate admission.Gate) admission.Component {
	tb.Helper()
	c, err := admission.NewComponent(minor, gate)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestComponent(t *testing.T) {
	t.Run("GRP-16 the gate's default by version", func(t *testing.T) {
		for minor, want := range map[admission.Minor]bool{1: false, 30: false, 31: false, 32: false, 33: true, 34: true, 35: true, 40: true} {
			if got := component(t, minor, admission.GateDefault); got.Enabled() != want || got.Minor() != minor {
				t.Errorf("NewComponent(%d, GateDefault) = %s, enabled %v", minor, got.Minor(), got.Enabled())
			}
		}
	})
	t.Run("GRP-16 from 1.35 off is a start-up error", func(t *testing.T) {
		for _, minor := range []admission.Minor{0, 35, 36, 37, 40} {
			if _, err := admission.NewComponent(minor, admission.GateOff); !errors.Is(err, admission.ErrGateLocked) {
				t.Errorf("NewComponent(%d, GateOff) = %v, want ErrGateLocked", minor, err)
			}
			if c := component(t, minor, admission.GateOn); !c.Enabled() {
				t.Errorf("NewComponent(%d, GateOn) is not enabled", minor)
			}
		}
		if c := component(t, 34, admission.GateOff); c.Enabled() {
			t.Error("NewComponent(34, GateOff) is enabled")
		}
		for _, gate := range []admission.Gate{admission.GateOn, admission.GateOff} {
			if _, err := admission.NewComponent(30, gate); !errors.Is(err, admission.ErrNoGate) {
				t.Errorf("NewComponent(30, %d) = %v, want ErrNoGate", gate, err)
			}
		}
	})
	t.Run("GRP-16 an error names the version and the gate", func(t *testing.T) {
		for minor, want := range map[admission.Minor]string{
			30: `version "1.30": no feature gate SupplementalGroupsPolicy`,
			36: `version "1.36": feature gate SupplementalGroupsPolicy is locked to true`,
			-1: "not a Kubernetes minor version: -1",
		} {
			if _, err := admission.NewComponent(minor, admission.GateOff); err == nil || err.Error() != want {
				t.Errorf("NewComponent(%d, GateOff) = %v, want %s", minor, err, want)
			}
		}
	})
	t.Run("GRP-14 a version newer than known behaves as the newest known, and says so", func(t *testing.T) {
		newer, newest := component(t, 99, admission.GateDefault), component(t, admission.MinorNewest, admission.GateDefault)
		if known, itself := newer.Minor().Known(); newer.Minor() != 99 || known != admission.MinorNewest || itself {
			t.Errorf("Minor 99 is %d, known as %d, %v", newer.Minor(), known, itself)
		}
		for _, minor := range []admission.Minor{28, 31, admission.MinorNewest} {
			if known, itself := minor.Known(); known != minor || !itself {
				t.Errorf("Minor(%d).Known() = %d, %v", minor, known, itself)
			}
		}
		for _, supported := range []bool{true, false} {
			for _, policy := range []corev1.SupplementalGroupsPolicy{merge, strict} {
				got, want := admission.Admit(newer, &supported, &policy), admission.Admit(newest, &supported, &policy)
				if got != want {
					t.Errorf("Admit(1.99, %v, %s) = %+v, want %+v", supported, policy, got, want)
				}
			}
		}
	})
	t.Run("GRP-14 the zero component is the newest with its default gate", func(t *testing.T) {
		if c := component(t, 0, admission.GateDefault); c != (admission.Component{}) || c.Minor() != admission.MinorNewest || !c.Enabled() {
			t.Errorf("NewComponent(0, GateDefault) = %+v", c)
		}
	})
}

func podWith(policy *corev1.SupplementalGroupsPolicy, user bool) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SupplementalGroupsPolicy: policy}}}
	if user {
		status := []corev1.ContainerStatus{{User: &corev1.ContainerUser{Linux: &corev1.LinuxContainerUser{}}}}
		pod.Status.ContainerStatuses = status
		pod.Status.InitContainerStatuses = append([]corev1.ContainerStatus(nil), status...)
		pod.Status.EphemeralContainerStatuses = append([]corev1.ContainerStatus(nil), status...)
	}
	return pod
}

func users(pod *corev1.Pod) (n int) {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for _, s := range list {
			if s.User != nil {
				n++
			}
		}
	}
	return n
}

func TestDrop(t *testing.T) {
	gateOff, gateOn := component(t, 33, admission.GateOff), component(t, 33, admission.GateDefault)
	cases := map[string]struct {
		gate admission.Component
		old  *corev1.Pod
		keep bool
	}{
		"GRP-16 gate off, a new pod":                     {gateOff, nil, false},
		"GRP-16 gate off, the stored pod has no policy":  {gateOff, podWith(nil, false), false},
		"GRP-16 gate off, the stored pod has no context": {gateOff, &corev1.Pod{}, false},
		"GRP-16 gate off, the stored pod has one":        {gateOff, podWith(ptr(merge), false), true},
		"GRP-16 gate on, a new pod":                      {gateOn, nil, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := podWith(ptr(strict), true)
			admission.DropPodFields(c.gate, pod, c.old)
			if got := pod.Spec.SecurityContext.SupplementalGroupsPolicy != nil; got != c.keep {
				t.Errorf("policy kept: %v, want %v", got, c.keep)
			}
			want := 0
			if c.gate.Enabled() {
				want = 3
			}
			if got := users(pod); got != want {
				t.Errorf("users kept: %d, want %d", got, want)
			}
		})
	}
	t.Run("GRP-16 a pod without a context is left alone", func(t *testing.T) {
		admission.DropPodFields(gateOff, &corev1.Pod{}, nil)
	})
	t.Run("GRP-16 GRP-13 the node's feature goes with the gate, unless stored", func(t *testing.T) {
		node := func() *corev1.Node {
			return &corev1.Node{Status: corev1.NodeStatus{Features: &corev1.NodeFeatures{SupplementalGroupsPolicy: ptr(true)}}}
		}
		for i, c := range []struct {
			gate admission.Component
			old  *corev1.Node
			keep bool
		}{{gateOff, nil, false}, {gateOff, &corev1.Node{}, false}, {gateOff, node(), true}, {gateOn, nil, true}} {
			n := node()
			admission.DropNodeFields(c.gate, n, c.old)
			if got := n.Status.Features.SupplementalGroupsPolicy != nil; got != c.keep {
				t.Errorf("case %d: kept %v, want %v", i, got, c.keep)
			}
		}
	})
}

func TestValidate(t *testing.T) {
	windows := &corev1.PodOS{Name: corev1.Windows}
	cases := []struct {
		name string
		spec corev1.PodSpec
		want []string
	}{
		{"GRP-10 nothing set", corev1.PodSpec{}, nil},
		{"GRP-10 Merge and Strict are fine", corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SupplementalGroupsPolicy: ptr(strict), SupplementalGroups: []int64{0, 2147483647}}}, nil},
		{
			"GRP-10 the spelling is exact",
			corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SupplementalGroupsPolicy: ptr(corev1.SupplementalGroupsPolicy("merge"))}},
			[]string{`spec.securityContext.supplementalGroupsPolicy: Unsupported value: "merge": supported values: "Merge", "Strict"`},
		},
		{
			"GRP-10 an empty policy is none",
			corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SupplementalGroupsPolicy: ptr(corev1.SupplementalGroupsPolicy(""))}},
			[]string{`spec.securityContext.supplementalGroupsPolicy: Unsupported value: "": supported values: "Merge", "Strict"`},
		},
		{
			"GRP-10 GRP-8 groups out of range",
			corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SupplementalGroups: []int64{-1, 5, 2147483648}}},
			[]string{
				`spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
				`spec.securityContext.supplementalGroups[2]: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive`,
			},
		},
		{
			"GRP-10 windows has neither field",
			corev1.PodSpec{OS: windows, SecurityContext: &corev1.PodSecurityContext{SupplementalGroups: []int64{}, SupplementalGroupsPolicy: ptr(merge)}},
			[]string{
				`spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod`,
				`spec.securityContext.supplementalGroupsPolicy: Forbidden: cannot be set for a windows pod`,
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			check(t, admission.ValidatePodSpec(&c.spec, field.NewPath("spec")), c.want)
		})
	}
	t.Run("GRP-10 windows has no linux user in a status", func(t *testing.T) {
		pod := podWith(nil, true)
		pod.Spec.OS = windows
		check(t, admission.ValidateStatuses(&pod.Spec, &pod.Status, field.NewPath("status")), []string{
			"status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod",
			"status.initContainerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod",
			"status.ephemeralContainerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod",
		})
	})
	t.Run("GRP-10 GRP-8 a linux user has IDs in range", func(t *testing.T) {
		status := &corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{}, {User: &corev1.ContainerUser{
			Linux: &corev1.LinuxContainerUser{UID: -1, GID: 1 << 31, SupplementalGroups: []int64{1, -2}},
		}}}}
		check(t, admission.ValidateStatuses(&corev1.PodSpec{}, status, field.NewPath("status")), []string{
			"status.containerStatuses[1].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
			"status.containerStatuses[1].user.linux.gid: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
			"status.containerStatuses[1].user.linux.supplementalGroups[1]: Invalid value: -2: must be between 0 and 2147483647, inclusive",
		})
	})
}

func check(t *testing.T, errs field.ErrorList, want []string) {
	t.Helper()
	var got []string
	for _, e := range errs {
		got = append(got, e.Error())
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("errors = %q, want %q", got, want)
	}
}
