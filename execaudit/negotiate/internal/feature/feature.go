// Package feature decides from a runtime's features, through a descriptor that may
// not have the field yet, and its conditions.
package feature

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Supported reports whether features has a bool called field that is true, or
// else whether there are conditions of the type and all are true.
func Supported(features protoreflect.Message, field protoreflect.Name, conditions []*runtimeapi.RuntimeCondition, kind string) bool {
	return isSet(features, field) || holds(conditions, kind)
}

func isSet(m protoreflect.Message, name protoreflect.Name) bool {
	field := m.Descriptor().Fields().ByName(name)
	return field != nil && !field.IsList() && field.Kind() == protoreflect.BoolKind && m.Get(field).Bool()
}

func holds(conditions []*runtimeapi.RuntimeCondition, kind string) bool {
	found := false
	for _, c := range conditions {
		if c.GetType() != kind {
			continue
		}
		if !c.GetStatus() {
			return false
		}
		found = true
	}
	return found
}
