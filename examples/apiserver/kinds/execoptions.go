package kinds

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// PodExecOptions are the options of an exec with the field that KEP-6035 adds to the published type of this name.
// Admission sees them as they are here, Env as a list of names and values.
type PodExecOptions struct {
	metav1.TypeMeta `json:""`

	Stdin     bool     `json:"stdin,omitempty"`
	Stdout    bool     `json:"stdout,omitempty"`
	Stderr    bool     `json:"stderr,omitempty"`
	TTY       bool     `json:"tty,omitempty"`
	Container string   `json:"container,omitempty"`
	Command   []string `json:"command"`

	ExecEnvironment `json:",inline"`
}

// ExecEnvironment is the part that is new. It is a struct of its own because the OpenAPI of the exec path can name only
// parameters of simple types.
type ExecEnvironment struct {
	// Env is what the caller wants in the process's environment, in the caller's order.
	Env []envprecedence.Entry `json:"env,omitempty"`

	// faults are those of entries that could not be read, as a query or as JSON; they are reported with those of
	// validation.
	faults error
}

// Faults returns what was wrong with the entries as they came, before any rule of validation, as execaudit.Faults; nil
// for nothing.
func (e *ExecEnvironment) Faults() error { return e.faults }

// DeepCopyObject implements runtime.Object.
func (o *PodExecOptions) DeepCopyObject() runtime.Object {
	c := *o
	c.Command = slices.Clone(o.Command)
	c.Env = slices.Clone(o.Env)
	return &c
}

// wireExecOptions are the options in JSON, as an admission webhook gets and returns them: with the values of Env.
type wireExecOptions struct {
	*plainExecOptions
	Env json.RawMessage `json:"env,omitempty"` // over the field of the same name that is further down
}

// plainExecOptions are the options without their JSON methods.
type plainExecOptions PodExecOptions

// MarshalJSON implements json.Marshaler: JSON is the form on the wire.
func (o *PodExecOptions) MarshalJSON() ([]byte, error) {
	wire := wireExecOptions{plainExecOptions: (*plainExecOptions)(o)}
	if len(o.Env) > 0 {
		env, err := execaudit.EncodeJSON(o.Env)
		if err != nil {
			return nil, err
		}
		wire.Env = env
	}
	return json.Marshal(wire)
}

// UnmarshalJSON implements json.Unmarshaler. An entry with a valueFrom is a fault of the options, not an error.
func (o *PodExecOptions) UnmarshalJSON(data []byte) error {
	wire := wireExecOptions{plainExecOptions: (*plainExecOptions)(o)}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	o.Env, o.faults = nil, nil
	if wire.Env != nil {
		o.Env, o.faults = execaudit.DecodeJSON(wire.Env)
	}
	return nil
}
