package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// version is the only API version of RBAC that is read; API servers serve no other.
var version = rbacv1.SchemeGroupVersion.String()

// head is what is read of every object, and of no more than its own level.
type head struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        json.RawMessage `json:"metadata"`
	Items           json.RawMessage `json:"items"`
}

// headOf reads names case sensitively and refuses duplicate ones: of two kinds, none is the right one.
func headOf(text []byte) (head, error) {
	var h head
	if len(text) == 0 || text[0] != '{' {
		return h, errors.New("not a Kubernetes object")
	}
	doubled, err := kjson.UnmarshalStrict(text, &h, kjson.DisallowDuplicateFields)
	return h, errors.Join(append(doubled, err)...)
}

// named is the version, kind and name for people, as far as there are any.
func (h head) named() string {
	var meta struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(h.Metadata, &meta)
	name := h.Kind
	if h.APIVersion != version {
		name = h.APIVersion + " " + h.Kind
	}
	if meta.Name == "" {
		return name
	}
	return fmt.Sprintf("%s %q", name, qualified(metav1.ObjectMeta{Namespace: meta.Namespace, Name: meta.Name}))
}

// document takes one object, or each item of a list.
func (m *manifests) document(at place, text []byte) error {
	h, err := headOf(text)
	if err != nil {
		return err
	}
	switch {
	case h.APIVersion == "" || h.Kind == "":
		return errors.New("no apiVersion and kind: not a Kubernetes object")
	case strings.HasSuffix(h.Kind, "List") && at.item > 0:
		return errors.New("a list in a list")
	case strings.HasSuffix(h.Kind, "List"):
		return m.list(at, h)
	case h.APIVersion == version:
		return m.object(at, h, text)
	case strings.HasPrefix(h.APIVersion, rbacv1.GroupName+"/"):
		return fmt.Errorf("%s: want %s", h.named(), version)
	}
	m.note("%s: not RBAC: %s", at, h.named())
	return nil
}

// list takes the items one by one. Those of a list of RBAC have its version and kind, which API servers leave out.
func (m *manifests) list(at place, h head) error {
	ours, plain := h.APIVersion == version, h.APIVersion == "v1" && h.Kind == "List"
	var items []json.RawMessage
	switch err := json.Unmarshal(h.Items, &items); {
	case !ours && !plain:
		m.note("%s: not RBAC: %s", at, h.named())
	case h.Items == nil:
		return fmt.Errorf("%s without items", h.Kind)
	case err != nil:
		return fmt.Errorf("%s: items are not a list", h.Kind)
	}
	for i, item := range items {
		at.item = i + 1
		if err := m.item(at, h, item, ours, plain); err != nil {
			m.fault(at, "refused: %v", err)
		}
	}
	var meta struct {
		Continue string `json:"continue"`
	}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(h.Metadata, &meta)
	if at.item = 0; meta.Continue != "" && (ours || plain) {
		m.fault(at, "incomplete: the %s goes on, its metadata.continue is set", h.Kind)
	}
	return nil
}

// item takes one. Of a list that is not RBAC, an item may still be, if it says so.
func (m *manifests) item(at place, list head, text []byte, ours, plain bool) error {
	h, err := headOf(text)
	switch {
	case plain || err == nil && h.APIVersion == version && !ours:
		return m.document(at, text)
	case !ours:
		return nil
	case err != nil:
		return err
	}
	kind := strings.TrimSuffix(list.Kind, "List")
	if h.Kind != "" && h.Kind != kind || h.APIVersion != "" && h.APIVersion != version {
		return fmt.Errorf("%s in a %s", h.named(), list.Kind)
	}
	h.Kind, h.APIVersion = kind, version
	return m.object(at, h, text)
}

// object reads strictly: a misspelt field would grant nothing.
func (m *manifests) object(at place, h head, text []byte) (err error) {
	switch h.Kind {
	case "ClusterRole":
		err = add(&m.Cluster, text, func(r *rbacv1.ClusterRole) { m.keep(at, h.Kind, r.ObjectMeta, r.Rules) })
	case "Role":
		err = add(&m.Namespaced, text, func(r *rbacv1.Role) { m.keep(at, h.Kind, r.ObjectMeta, r.Rules) })
	case "ClusterRoleBinding":
		err = add(&m.ClusterBindings, text, func(*rbacv1.ClusterRoleBinding) {})
	case "RoleBinding":
		err = add(&m.Bindings, text, func(*rbacv1.RoleBinding) {})
	default:
		return fmt.Errorf("%s %s: not a kind of RBAC", version, h.Kind)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", h.named(), err)
	}
	return nil
}

func add[T any](list *[]*T, text []byte, note func(*T)) error {
	object := new(T)
	faults, err := kjson.UnmarshalStrict(text, object)
	if err := errors.Join(append(faults, err)...); err != nil {
		return err
	}
	*list = append(*list, object)
	note(object)
	return nil
}
