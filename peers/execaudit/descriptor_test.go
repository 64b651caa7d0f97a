package execaudit_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// future is ExecRequest as the KEP writes it, with field 7.
type future struct {
	request          protoreflect.MessageDescriptor
	envs, key, value protoreflect.FieldDescriptor
}

func newFuture(t testing.TB) future {
	t.Helper()
	text, bytes := descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_BYTES
	flag, message := descriptorpb.FieldDescriptorProto_TYPE_BOOL, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	one, many := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: &label}
	}
	envs := field("envs", 7, message, many)
	envs.TypeName = proto.String(".future.KeyValue")
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("future.proto"), Package: proto.String("future"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("KeyValue"), Field: []*descriptorpb.FieldDescriptorProto{field("key", 1, text, one), field("value", 2, bytes, one)}},
			{Name: proto.String("ExecRequest"), Field: []*descriptorpb.FieldDescriptorProto{
				field("container_id", 1, text, one), field("cmd", 2, text, many), field("tty", 3, flag, one),
				field("stdin", 4, flag, one), field("stdout", 5, flag, one), field("stderr", 6, flag, one), envs,
			}},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair := file.Messages().ByName("KeyValue").Fields()
	request := file.Messages().ByName("ExecRequest")
	return future{request: request, envs: request.Fields().ByName("envs"), key: pair.ByName("key"), value: pair.ByName("value")}
}

// marshal is what a sender with the field does.
func (f future) marshal(containerID string, envs []envprecedence.Entry) ([]byte, error) {
	m := dynamicpb.NewMessage(f.request)
	m.Set(f.request.Fields().ByName("container_id"), protoreflect.ValueOfString(containerID))
	list := m.Mutable(f.envs).List()
	for i := range envs {
		pair := list.AppendMutable().Message()
		pair.Set(f.key, protoreflect.ValueOfString(envs[i].Name))
		pair.Set(f.value, protoreflect.ValueOfBytes([]byte(envs[i].Value.Reveal())))
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// unmarshal is what a receiver with the field does.
func (f future) unmarshal(wire []byte) ([]envprecedence.Entry, error) {
	m := dynamicpb.NewMessage(f.request)
	if err := proto.Unmarshal(wire, m); err != nil {
		return nil, err
	}
	list := m.Get(f.envs).List()
	envs := make([]envprecedence.Entry, list.Len())
	for i := range envs {
		pair := list.Get(i).Message()
		envs[i] = envprecedence.NewEntry(pair.Get(f.key).String(), string(pair.Get(f.value).Bytes()))
	}
	return envs, nil
}
