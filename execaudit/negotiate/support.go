package negotiate

import (
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/execaudit/negotiate/internal/feature"
)

const (
	// ConditionType is the type of the RuntimeCondition by which a runtime says
	// that it injects ExecRequest.envs.
	ConditionType = "ExecEnvsSupported"
	// FeatureField is the name of the bool in cri-api's RuntimeFeatures that is
	// asked first, once there is one.
	FeatureField = "exec_envs"
)

// Condition returns the condition for StatusResponse.status.conditions. A
// runtime without support may as well report none.
func Condition(supported bool) *runtimeapi.RuntimeCondition {
	if supported {
		return &runtimeapi.RuntimeCondition{Type: ConditionType, Status: true}
	}
	return &runtimeapi.RuntimeCondition{
		Type:    ConditionType,
		Reason:  "NotImplemented",
		Message: "ExecRequest.envs is ignored",
	}
}

// Supported reports whether the runtime that sent resp injects
// ExecRequest.envs: its features say so, or else its condition does. Of several
// conditions of the type all must be true. It is false for nil and for silence.
func Supported(resp *runtimeapi.StatusResponse) bool {
	features := resp.GetFeatures().ProtoReflect() // of a nil message all is unset
	return feature.Supported(features, FeatureField, resp.GetStatus().GetConditions(), ConditionType)
}
