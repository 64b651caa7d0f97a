package criwire

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/redact"
)

// typedField is the environment field of a descriptor that has one.
type typedField struct {
	list, key, value protoreflect.FieldDescriptor
}

// find returns the typed field, nil when the descriptor has none: by the KEP's
// name, else by its number, since the name was still under review.
func find(message protoreflect.MessageDescriptor) (*typedField, error) {
	list := message.Fields().ByName("envs")
	if list == nil {
		list = message.Fields().ByNumber(fieldNumber)
	}
	if list == nil {
		return nil, nil
	}
	if !list.IsList() || list.Message() == nil {
		return nil, fmt.Errorf("%w: it is %s", ErrFieldTaken, list.FullName())
	}
	pair := list.Message().Fields()
	f := &typedField{list: list, key: pair.ByNumber(keyNumber), value: pair.ByNumber(valueNumber)}
	if !isText(f.key) || !isText(f.value) {
		return nil, fmt.Errorf("%w: it is %s", ErrFieldTaken, list.FullName())
	}
	return f, nil
}

func isText(fd protoreflect.FieldDescriptor) bool {
	return fd != nil && !fd.IsList() &&
		(fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind)
}

func (f *typedField) write(m protoreflect.Message, envs []envprecedence.Entry) error {
	for i := range envs {
		if f.value.Kind() == protoreflect.StringKind && !utf8.ValidString(envs[i].Value.Reveal()) {
			return fmt.Errorf("%w: the value of entry %d is not valid UTF-8", ErrNotCarriable, i)
		}
	}
	if len(envs) == 0 {
		if m.IsValid() {
			m.Clear(f.list)
		}
		return nil
	}
	list := m.NewField(f.list).List()
	for i := range envs {
		pair := list.NewElement()
		pair.Message().Set(f.key, text(f.key, envs[i].Name))
		pair.Message().Set(f.value, text(f.value, envs[i].Value.Reveal()))
		list.Append(pair)
	}
	m.Set(f.list, protoreflect.ValueOfList(list))
	return nil
}

func text(fd protoreflect.FieldDescriptor, s string) protoreflect.Value {
	if fd.Kind() == protoreflect.BytesKind {
		return protoreflect.ValueOfBytes([]byte(s))
	}
	return protoreflect.ValueOfString(s)
}

func (f *typedField) read(m protoreflect.Message) ([]envprecedence.Entry, error) {
	list := m.Get(f.list).List()
	if list.Len() == 0 {
		return nil, nil
	}
	if err := bound(list.Len(), 0); err != nil {
		return nil, err // before the slice is made
	}
	envs, hide := make([]envprecedence.Entry, list.Len()), redact.Block(list.Len())
	size := 0
	for i := range envs {
		pair := list.Get(i).Message()
		key, value := content(pair, f.key), content(pair, f.value)
		if !utf8.ValidString(key) {
			return nil, keyError(i)
		}
		envs[i] = envprecedence.Entry{Name: key, Value: hide(value)}
		size += len(key) + len(value)
		if err := bound(len(envs), size); err != nil {
			return nil, err
		}
	}
	return envs, nil
}

func content(pair protoreflect.Message, fd protoreflect.FieldDescriptor) string {
	if fd.Kind() == protoreflect.BytesKind {
		return string(pair.Get(fd).Bytes())
	}
	return pair.Get(fd).String()
}
