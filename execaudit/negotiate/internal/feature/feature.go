// Package feature asks a message for a bool that its descriptor may not have yet.
package feature

import "google.golang.org/protobuf/reflect/protoreflect"

// IsSet reports whether m has a field of that name which is a bool, and it is true.
func IsSet(m protoreflect.Message, name protoreflect.Name) bool {
	field := m.Descriptor().Fields().ByName(name)
	return field != nil && !field.IsList() && field.Kind() == protoreflect.BoolKind && m.Get(field).Bool()
}
