package apiserver

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/redact"
)

// wireEnvVar is one entry of PodExecOptions.Env in JSON: the shape of corev1.EnvVar.
type wireEnvVar struct {
	Name      string    `json:"name"`
	Value     string    `json:"value,omitempty"`
	ValueFrom *struct{} `json:"valueFrom,omitempty"` // its content is not kept: all there is to do with it is to refuse it
}

// EncodeEnv returns PodExecOptions.Env as JSON, a list in the shape of corev1.EnvVar, with the values in it: it is for
// the wire, as an admission webhook gets it, not for a log. "[]" for none.
//
// JSON carries text: bytes that are not UTF-8, which Validate refuses, come out as U+FFFD.
//
// Source: KEP-6035, PodExecOptions API type.
func EncodeEnv(envs []envprecedence.Entry) ([]byte, error) {
	wire := make([]wireEnvVar, len(envs))
	for i, e := range envs {
		wire[i] = wireEnvVar{Name: e.Name, Value: e.Value.Reveal()}
	}
	return json.Marshal(wire)
}

// DecodeEnv returns the entries of PodExecOptions.Env from JSON, a list in the shape of corev1.EnvVar, in order, duplicates
// kept; nil for an empty list and for null. A missing value is the empty one.
//
// The faults are env[i].valueFrom: Forbidden, wherever it is set, whatever it holds (KEP-6035, Validation: it is future work), and
// env: Invalid for what is not such a list. With a valueFrom the entries are there too, each at its place, so that Validate finds what
// else is wrong with them; they must not be used.
//
// Source: KEP-6035, PodExecOptions API type.
func DecodeEnv(list []byte) ([]envprecedence.Entry, field.ErrorList) {
	path := field.NewPath(execaudit.QueryParam)
	var wire []wireEnvVar
	if err := json.Unmarshal(list, &wire); err != nil {
		return nil, field.ErrorList{field.Invalid(path, field.OmitValueType{}, "must be a list of names and values")}
	}
	if len(wire) == 0 {
		return nil, nil
	}
	var faults field.ErrorList
	envs, hide := make([]envprecedence.Entry, len(wire)), redact.Block(len(wire))
	for i, e := range wire {
		envs[i] = envprecedence.Entry{Name: e.Name, Value: hide(e.Value)}
		if e.ValueFrom != nil {
			faults = append(faults, field.Forbidden(path.Index(i).Child("valueFrom"), "may not be specified in an exec request"))
		}
	}
	return envs, faults
}
