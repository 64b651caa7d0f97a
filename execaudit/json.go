package execaudit

import (
	"encoding/json"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/redact"
)

// wireEnvVar is one entry of PodExecOptions.Env in JSON: the shape of corev1.EnvVar.
type wireEnvVar struct {
	Name      string         `json:"name"`
	Value     string         `json:"value,omitempty"`
	ValueFrom *wireValueFrom `json:"valueFrom,omitempty"`
}

// wireValueFrom is any value: all there is to do with it is to refuse it.
type wireValueFrom struct{}

// UnmarshalJSON keeps nothing.
func (*wireValueFrom) UnmarshalJSON([]byte) error { return nil }

// EncodeJSON returns PodExecOptions.Env as JSON, a list in the shape of corev1.EnvVar, with the values in it: it is for
// the wire, as an admission webhook gets it, not for a log. "[]" for none.
//
// JSON carries text: bytes that are not UTF-8, which Validate refuses, come out as U+FFFD.
//
// Source: KEP-6035, PodExecOptions API type.
func EncodeJSON(envs []envprecedence.Entry) ([]byte, error) {
	wire := make([]wireEnvVar, len(envs))
	for i, e := range envs {
		wire[i] = wireEnvVar{Name: e.Name, Value: e.Value.Reveal()}
	}
	return json.Marshal(wire)
}

// DecodeJSON returns the entries of PodExecOptions.Env from JSON, a list in the shape of corev1.EnvVar, in order,
// duplicates kept; nil for an empty list and for null. A missing value is the empty one.
//
// The error is Faults: env[i].valueFrom: Forbidden, wherever it is set, whatever it holds (KEP-6035, Validation: it is
// future work), and env: Invalid for what is not such a list. Beside a valueFrom the entries are returned too, each at
// its place, so that Validate finds what else is wrong with them; they must not be used.
//
// Source: KEP-6035, PodExecOptions API type.
func DecodeJSON(list []byte) ([]envprecedence.Entry, error) {
	var wire []wireEnvVar
	if err := json.Unmarshal(list, &wire); err != nil {
		return nil, Faults{{Index: -1, Kind: FaultInvalid, Detail: "must be a list of names and values"}}
	}
	if len(wire) == 0 {
		return nil, nil
	}
	var faults Faults
	envs, hide := make([]envprecedence.Entry, len(wire)), redact.Block(len(wire))
	for i, e := range wire {
		envs[i] = envprecedence.Entry{Name: e.Name, Value: hide(e.Value)}
		if e.ValueFrom != nil {
			faults = append(faults, &Fault{Index: i, Field: "valueFrom", Kind: FaultForbidden, Detail: "may not be specified in an exec request"})
		}
	}
	return envs, faults.err()
}
