package feature_test

import (
	"testing"

	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/reflect/protoreflect"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

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

func TestSupported(t *testing.T) {
	yes, no := []*runtimeapi.RuntimeCondition{negotiate.Condition(true)}, []*runtimeapi.RuntimeCondition{negotiate.Condition(false)}
	cases := []struct {
		name       string
		m          *features
		field      protoreflect.Name
		conditions []*runtimeapi.RuntimeCondition
		want       bool
	}{
		{"the feature is set", &features{ExecEnvs: true}, negotiate.FeatureField, nil, true},
		{"the feature is asked first", &features{ExecEnvs: true}, negotiate.FeatureField, no, true},
		{"a feature that is not set leaves it to the condition", &features{Groups: true}, negotiate.FeatureField, yes, true},
		{"neither", &features{Groups: true}, negotiate.FeatureField, nil, false},
		{"not in the descriptor", &features{ExecEnvs: true}, "absent", nil, false},
		{"a text", &features{Text: "true"}, "text", nil, false},
		{"a list", &features{List: []bool{true}}, "list", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := protoadapt.MessageV2Of(c.m).ProtoReflect()
			if got := feature.Supported(m, c.field, c.conditions, negotiate.ConditionType); got != c.want {
				t.Errorf("Supported = %t, want %t", got, c.want)
			}
		})
	}
}
