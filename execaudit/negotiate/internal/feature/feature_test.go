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
	of := func(status bool) []*runtimeapi.RuntimeCondition {
		return []*runtimeapi.RuntimeCondition{negotiate.Condition(status)}
	}
	handler := func(status bool, others ...*runtimeapi.RuntimeCondition) []*runtimeapi.RuntimeCondition {
		return append(others, &runtimeapi.RuntimeCondition{Type: negotiate.HandlerConditionPrefix + "h", Status: status})
	}
	cases := []struct {
		name             string
		handler, runtime *features
		field            protoreflect.Name
		conditions       []*runtimeapi.RuntimeCondition
		want             bool
	}{
		{"the runtime's feature is set", &features{}, &features{ExecEnvs: true}, negotiate.FeatureField, nil, true},
		{"the feature is asked first", &features{}, &features{ExecEnvs: true}, negotiate.FeatureField, of(false), true},
		{"a feature that is not set leaves it to the condition", &features{}, &features{Groups: true}, negotiate.FeatureField, of(true), true},
		{"the handler's feature is set", &features{ExecEnvs: true}, &features{}, negotiate.FeatureField, nil, true},
		{"the handler's feature comes before all conditions", &features{ExecEnvs: true}, nil, negotiate.FeatureField, handler(false, of(false)...), true},
		{"the handler's condition comes before the runtime's feature", &features{}, &features{ExecEnvs: true}, negotiate.FeatureField, handler(false), false},
		{"the handler's condition comes before the runtime's", nil, nil, negotiate.FeatureField, handler(true, of(false)...), true},
		{"neither", &features{Groups: true}, &features{Groups: true}, negotiate.FeatureField, nil, false},
		{"no features", nil, nil, negotiate.FeatureField, nil, false},
		{"not in the descriptor", &features{ExecEnvs: true}, &features{ExecEnvs: true}, "absent", nil, false},
		{"a text", &features{Text: "true"}, &features{Text: "true"}, "text", nil, false},
		{"a list", &features{List: []bool{true}}, &features{List: []bool{true}}, "list", nil, false},
	}
	for _, c := range cases {
		t.Run("EXA-36 "+c.name, func(t *testing.T) {
			scope := func(m *features, condition string) feature.Scope {
				return feature.Scope{Features: protoadapt.MessageV2Of(m).ProtoReflect(), Condition: condition}
			}
			if got := feature.Supported(c.field, c.conditions,
				scope(c.handler, negotiate.HandlerConditionPrefix+"h"), scope(c.runtime, negotiate.ConditionType)); got != c.want {
				t.Errorf("Supported = %t, want %t", got, c.want)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	for field, want := range map[protoreflect.Name]bool{negotiate.FeatureField: true, "supplemental_groups_policy": true, "text": false, "list": false, "absent": false} {
		t.Run("EXA-36 a field is known if it is a bool, and what is set there is read: "+string(field), func(t *testing.T) {
			m := protoadapt.MessageV2Of(&features{}).ProtoReflect()
			known := feature.Known(m, field)
			if (known != nil) != want {
				t.Fatalf("Known = %v, want %t", known, want)
			}
			if !want {
				return
			}
			for _, value := range []bool{true, false} {
				m.Set(known, protoreflect.ValueOfBool(value))
				if got := feature.Supported(field, nil, feature.Scope{Features: m}); got != value {
					t.Errorf("set to %t, Supported = %t", value, got)
				}
			}
		})
	}
}
