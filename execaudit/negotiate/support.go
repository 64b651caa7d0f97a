package negotiate

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/execaudit/negotiate/internal/feature"
)

const (
	// ConditionType is the type of the RuntimeCondition by which a runtime says
	// that it injects ExecRequest.envs, whatever the runtime handler.
	ConditionType = "ExecEnvsSupported"
	// HandlerConditionPrefix and a runtime handler's name, which is empty for the default
	// handler, are the type of the RuntimeCondition that says so of this handler alone.
	HandlerConditionPrefix = ConditionType + "/"
	// FeatureField is the name of the bool in cri-api's RuntimeHandlerFeatures and RuntimeFeatures that is asked
	// first, once there is one.
	FeatureField = "exec_envs"
)

// Announce says in resp for which runtime handlers ExecRequest.envs is injected: injects is asked once for each name in
// resp.RuntimeHandlers, or for the default handler "" where there are none. It appends Condition, which is true if all
// are, and, where they differ, one condition for each handler, in the order of the response. Once cri-api has a bool
// named FeatureField in RuntimeHandlerFeatures it is set too, in copies, so that a runtime can share its handlers between
// answers. Kubelets ignore conditions that they do not know.
//
// The list of conditions is appended to in resp.Status, which is made if missing. resp must not be nil.
func Announce(resp *runtimeapi.StatusResponse, injects func(handler string) bool) {
	if resp.Status == nil {
		resp.Status = &runtimeapi.RuntimeStatus{}
	}
	conditions, all, none := []*runtimeapi.RuntimeCondition(nil), true, true
	handlers := slices.Clone(resp.GetRuntimeHandlers())
	for i, h := range handlers {
		does := injects(h.GetName())
		all, none = all && does, none && !does
		conditions = append(conditions, condition(HandlerConditionPrefix+h.GetName(), does))
		handlers[i] = mark(h, does)
	}
	if len(handlers) == 0 {
		all = injects("")
	}
	if all || none {
		conditions = nil
	}
	resp.RuntimeHandlers = handlers
	resp.Status.Conditions = append(append(resp.Status.Conditions, Condition(all)), conditions...)
}

// mark returns h, or a copy with the typed field where cri-api has one.
func mark(h *runtimeapi.RuntimeHandler, injects bool) *runtimeapi.RuntimeHandler {
	field := feature.Known(h.GetFeatures().ProtoReflect(), FeatureField)
	if field == nil {
		return h
	}
	h = proto.CloneOf(h)
	if h.Features == nil {
		h.Features = &runtimeapi.RuntimeHandlerFeatures{}
	}
	h.Features.ProtoReflect().Set(field, protoreflect.ValueOfBool(injects))
	return h
}

// Condition returns the condition for StatusResponse.status.conditions of a runtime
// whose handlers are all alike. A runtime without support may as well report none.
func Condition(supported bool) *runtimeapi.RuntimeCondition {
	return condition(ConditionType, supported)
}

func condition(kind string, supported bool) *runtimeapi.RuntimeCondition {
	if supported {
		return &runtimeapi.RuntimeCondition{Type: kind, Status: true}
	}
	return &runtimeapi.RuntimeCondition{
		Type:    kind,
		Reason:  "NotImplemented",
		Message: "ExecRequest.envs is ignored",
	}
}

// Supported reports whether the runtime that sent resp injects ExecRequest.envs into containers of the runtime handler,
// which is "" for pods without a RuntimeClass: what resp says about the handler decides, else what it says about the
// runtime. A typed feature that is true comes before a condition; of several conditions of one type all must be true.
// It is false for a nil resp and for silence.
func Supported(resp *runtimeapi.StatusResponse, handler string) bool {
	var ofHandler *runtimeapi.RuntimeHandlerFeatures
	for _, h := range resp.GetRuntimeHandlers() {
		if h.GetName() == handler {
			ofHandler = h.GetFeatures()
		}
	}
	return feature.Supported(FeatureField, resp.GetStatus().GetConditions(),
		feature.Scope{Features: ofHandler.ProtoReflect(), Condition: HandlerConditionPrefix + handler},
		feature.Scope{Features: resp.GetFeatures().ProtoReflect(), Condition: ConditionType})
}
