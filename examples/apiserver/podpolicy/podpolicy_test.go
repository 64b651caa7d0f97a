package podpolicy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/lanyard-dev/lanyard/examples/apiserver/podpolicy"
)

const rules = `
- namespace: user-alice
  runAsUser: 1000
  runAsGroup: 1000
  supplementalGroups: [60000]
  fsGroups: [1000, 60000]
  requireStrict: true
`

func TestPolicy(t *testing.T) {
	policy, err := podpolicy.Parse([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int64) *int64 { return &n }
	for _, row := range []struct {
		name   string
		change func(*corev1.PodSpec)
		says   string // "" for a pod that passes
	}{
		{"as the rule has it", func(*corev1.PodSpec) {}, ""},
		{"an allowed fsGroup", func(s *corev1.PodSpec) { s.SecurityContext.FSGroup = id(60000) }, ""},
		{"no security context", func(s *corev1.PodSpec) { s.SecurityContext = nil }, "runAsUser must be 1000"},
		{"another group", func(s *corev1.PodSpec) { s.SecurityContext.RunAsGroup = id(0) }, "runAsGroup must be 1000"},
		{"more groups", func(s *corev1.PodSpec) { s.SecurityContext.SupplementalGroups = []int64{60000, 50000} }, "supplementalGroups must be [60000]"},
		{"another fsGroup", func(s *corev1.PodSpec) { s.SecurityContext.FSGroup = id(50000) }, "fsGroup must be one of [1000 60000]"},
		{"no policy", func(s *corev1.PodSpec) { s.SecurityContext.SupplementalGroupsPolicy = nil }, "supplementalGroupsPolicy must be Strict"},
		{"a container's own user", func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: id(0)}
		}, `container "app": runAsUser must be 1000`},
		{"an init container's own group", func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "first", SecurityContext: &corev1.SecurityContext{RunAsGroup: id(50000)}}}
		}, `container "first": runAsGroup must be 1000`},
	} {
		t.Run("GRP-19 "+row.name, func(t *testing.T) {
			underStrict := corev1.SupplementalGroupsPolicyStrict
			pod := &corev1.Pod{Spec: corev1.PodSpec{
				SecurityContext: &corev1.PodSecurityContext{
					RunAsUser: id(1000), RunAsGroup: id(1000), SupplementalGroups: []int64{60000}, SupplementalGroupsPolicy: &underStrict,
				},
				Containers: []corev1.Container{{Name: "app"}},
			}}
			row.change(&pod.Spec)
			ask := func(namespace string) error {
				return policy.Validate(t.Context(), admission.NewAttributesRecord(pod, nil, schema.GroupVersionKind{}, namespace, "p",
					schema.GroupVersionResource{Resource: "pods"}, "", admission.Create, nil, false, nil), nil)
			}
			switch err := ask("user-alice"); {
			case row.says == "" && err != nil:
				t.Error(err)
			case row.says != "" && (!apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), row.says)):
				t.Errorf("Validate = %v, want forbidden: %s", err, row.says)
			}
			if err := ask("elsewhere"); err != nil {
				t.Errorf("in a namespace without rules: %v", err)
			}
		})
	}
	t.Run("GRP-19 an unknown key is no rule", func(t *testing.T) {
		if _, err := podpolicy.Parse([]byte("- namespace: a\n  requireStrikt: true\n")); err == nil {
			t.Error("Parse took it")
		}
	})
}
