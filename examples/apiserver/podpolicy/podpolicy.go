// Package podpolicy is an admission plugin that fixes as whom the pods of a
// namespace may run: the policy engine of KEP-3619's story 1.
package podpolicy

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"
)

// Rule is what holds for the pods of one namespace.
type Rule struct {
	Namespace string `json:"namespace"`
	// RunAsUser and RunAsGroup are the only ones, and must be set.
	RunAsUser  int64 `json:"runAsUser"`
	RunAsGroup int64 `json:"runAsGroup"`
	// SupplementalGroups are the groups, in this order, and no others.
	SupplementalGroups []int64 `json:"supplementalGroups"`
	// FSGroups are those that fsGroup may be; it may also be unset.
	FSGroups []int64 `json:"fsGroups,omitempty"`
	// RequireStrict makes supplementalGroupsPolicy be Strict. Without it an image adds what groups it likes.
	RequireStrict bool `json:"requireStrict,omitempty"`
}

// Policy is the plugin. It is safe for concurrent use.
type Policy struct {
	rules []Rule
}

var _ admission.ValidationInterface = Policy{}

// Parse reads a YAML list of rules. An unknown key is an error.
func Parse(data []byte) (Policy, error) {
	var p Policy
	err := yaml.UnmarshalStrict(data, &p.rules)
	return p, err
}

// Handles implements admission.Interface.
func (Policy) Handles(o admission.Operation) bool {
	return o == admission.Create || o == admission.Update
}

// Validate refuses a pod of a namespace that has rules and breaks one.
func (p Policy) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	pod, ok := a.GetObject().(*corev1.Pod)
	if !ok || a.GetSubresource() != "" {
		return nil
	}
	for _, rule := range p.rules {
		if rule.Namespace != a.GetNamespace() {
			continue
		}
		if err := rule.check(&pod.Spec); err != nil {
			return admission.NewForbidden(a, err)
		}
	}
	return nil
}

func (r Rule) check(spec *corev1.PodSpec) error {
	sc := spec.SecurityContext
	if sc == nil {
		sc = &corev1.PodSecurityContext{}
	}
	switch {
	case sc.RunAsUser == nil || *sc.RunAsUser != r.RunAsUser:
		return fmt.Errorf("runAsUser must be %d", r.RunAsUser)
	case sc.RunAsGroup == nil || *sc.RunAsGroup != r.RunAsGroup:
		return fmt.Errorf("runAsGroup must be %d", r.RunAsGroup)
	case !slices.Equal(sc.SupplementalGroups, r.SupplementalGroups):
		return fmt.Errorf("supplementalGroups must be %d", r.SupplementalGroups)
	case sc.FSGroup != nil && !slices.Contains(r.FSGroups, *sc.FSGroup):
		return fmt.Errorf("fsGroup must be one of %d", r.FSGroups)
	case r.RequireStrict && (sc.SupplementalGroupsPolicy == nil || *sc.SupplementalGroupsPolicy != corev1.SupplementalGroupsPolicyStrict):
		return fmt.Errorf("supplementalGroupsPolicy must be %s", corev1.SupplementalGroupsPolicyStrict)
	}
	return r.checkContainers(spec)
}

// checkContainers looks at what containers set for themselves, which wins over the pod.
func (r Rule) checkContainers(spec *corev1.PodSpec) error {
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		sc := c.SecurityContext
		switch {
		case sc == nil:
		case sc.RunAsUser != nil && *sc.RunAsUser != r.RunAsUser:
			return fmt.Errorf("container %q: runAsUser must be %d", c.Name, r.RunAsUser)
		case sc.RunAsGroup != nil && *sc.RunAsGroup != r.RunAsGroup:
			return fmt.Errorf("container %q: runAsGroup must be %d", c.Name, r.RunAsGroup)
		}
	}
	return nil
}
