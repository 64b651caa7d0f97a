package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// maxInputBytes bounds one file or standard input.
const maxInputBytes = 64 << 20 // 64 MiB

// manifests are the RBAC objects of the inputs, in their order, and where each role stood.
type manifests struct {
	rbac.Snapshot
	roles []role
}

// role is a ClusterRole or a Role.
type role struct {
	from string
	kind string
	meta metav1.ObjectMeta
	list []rbacv1.PolicyRule
}

// title names a role for people.
func (r role) title() string {
	name := r.meta.Name
	if r.meta.Namespace != "" {
		name = r.meta.Namespace + "/" + name
	}
	return fmt.Sprintf("%s: %s %q", r.from, r.kind, name)
}

// read reads every file; objects that are not RBAC are passed over.
func read(c console, files []string) (*manifests, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: -f is missing", errUsage)
	}
	m := &manifests{}
	for _, name := range files {
		if err := m.file(c, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return m, m.aggregate()
}

func (m *manifests) file(c console, name string) error {
	in := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return errors.Unwrap(err) // the name stands in front already
		}
		defer f.Close()
		in = f
	}
	limited := &io.LimitedReader{R: in, N: maxInputBytes + 1}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(limited))
	for n := 1; ; n++ {
		text, err := documents.Read()
		if limited.N <= 0 {
			return fmt.Errorf("more than %d bytes", maxInputBytes)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = m.document(name, text)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
	}
}

// document reads one object, or each item of a list. RBAC objects are read strictly: a misspelt field would grant nothing.
func (m *manifests) document(from string, text []byte) error {
	var head struct {
		metav1.TypeMeta
		Items []runtime.RawExtension `json:"items"`
	}
	if err := yaml.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("not YAML (render templates first): %w", err)
	}
	if len(head.Items) > 0 {
		for i, item := range head.Items {
			if err := m.document(from, item.Raw); err != nil {
				return fmt.Errorf("item %d: %w", i+1, err)
			}
		}
		return nil
	}
	if head.APIVersion != rbacv1.SchemeGroupVersion.String() {
		return nil
	}
	return m.object(from, head.Kind, text)
}

func (m *manifests) object(from, kind string, text []byte) error {
	switch kind {
	case "ClusterRole":
		return keep(text, &m.Cluster, func(r *rbacv1.ClusterRole) {
			m.roles = append(m.roles, role{from, kind, r.ObjectMeta, r.Rules})
		})
	case "Role":
		return keep(text, &m.Namespaced, func(r *rbacv1.Role) {
			m.roles = append(m.roles, role{from, kind, r.ObjectMeta, r.Rules})
		})
	case "ClusterRoleBinding":
		return keep(text, &m.ClusterBindings, func(*rbacv1.ClusterRoleBinding) {})
	case "RoleBinding":
		return keep(text, &m.Bindings, func(*rbacv1.RoleBinding) {})
	}
	return nil
}

func keep[T any](text []byte, list *[]*T, note func(*T)) error {
	object := new(T)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		return err
	}
	*list = append(*list, object)
	note(object)
	return nil
}

// aggregate fills in the rules of roles that collect others by label, as the API server does.
func (m *manifests) aggregate() error {
	for _, into := range m.Cluster {
		if into.AggregationRule == nil {
			continue
		}
		into.Rules = nil
		for i := range into.AggregationRule.ClusterRoleSelectors {
			selector, err := metav1.LabelSelectorAsSelector(&into.AggregationRule.ClusterRoleSelectors[i])
			if err != nil {
				return fmt.Errorf("ClusterRole %q: %w", into.Name, err)
			}
			for _, from := range m.Cluster {
				if from != into && selector.Matches(labels.Set(from.Labels)) {
					into.Rules = append(into.Rules, from.Rules...)
				}
			}
		}
	}
	return nil
}
