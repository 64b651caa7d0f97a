package feature_test

import (
	"testing"

	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate/internal/feature"
)

// features is RuntimeFeatures as it may become; protobuf reads its descriptor
// from the field tags.
type features struct {
	Groups   bool   `protobuf:"varint,1,opt,name=supplemental_groups_policy,proto3"`
	ExecEnvs bool   `protobuf:"varint,3,opt,name=exec_envs,proto3"`
	Text     string `protobuf:"bytes,4,opt,name=text,proto3"`
	List     []bool `protobuf:"varint,5,rep,packed,name=list,proto3"`
}

func (m *features) Reset()         { *m = features{} }
func (m *features) String() string { return "" }
func (*features) ProtoMessage()    {}

func TestIsSet(t *testing.T) {
	cases := []struct {
		name  string
		m     *features
		field protoreflect.Name
		want  bool
	}{
		{"set", &features{ExecEnvs: true}, negotiate.FeatureField, true},
		{"not set", &features{Groups: true}, negotiate.FeatureField, false},
		{"not in the descriptor", &features{ExecEnvs: true}, "absent", false},
		{"a text", &features{Text: "true"}, "text", false},
		{"a list", &features{List: []bool{true}}, "list", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := feature.IsSet(protoadapt.MessageV2Of(c.m).ProtoReflect(), c.field); got != c.want {
				t.Errorf("IsSet(%s) = %t, want %t", c.field, got, c.want)
			}
		})
	}
}
