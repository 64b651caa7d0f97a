// Package feature decides from a runtime's features, through descriptors that may
// not have the field yet, and its conditions.
package feature

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Scope is where a runtime says something: about one handler, or about itself.
type Scope struct {
	Features  protoreflect.Message // of a nil message all is unset
	Condition string               // the type of its conditions
}

// Supported asks the scopes in order. The first that says something decides: by a
// bool called field that is true, or else by conditions, which must all be true.
// Where none does it is false.
func Supported(field protoreflect.Name, conditions []*runtimeapi.RuntimeCondition, scopes ...Scope) bool {
	for _, s := range scopes {
		if isSet(s.Features, field) {
			return true
		}
		if found, all := holds(conditions, s.Condition); found {
			return all
		}
	}
	return false
}

// Known returns the bool called name of m's descriptor, nil if it has none.
func Known(m protoreflect.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	field := m.Descriptor().Fields().ByName(name)
	if field == nil || field.IsList() || field.Kind() != protoreflect.BoolKind {
		return nil
	}
	return field
}

func isSet(m protoreflect.Message, name protoreflect.Name) bool {
	field := Known(m, name)
	return field != nil && m.Get(field).Bool()
}

func holds(conditions []*runtimeapi.RuntimeCondition, kind string) (found, all bool) {
	all = true
	for _, c := range conditions {
		if c.GetType() == kind {
			found, all = true, all && c.GetStatus()
		}
	}
	return found, all
}
