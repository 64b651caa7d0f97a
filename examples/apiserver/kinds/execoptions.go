package kinds

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
	Env []execaudit.Env `json:"env,omitempty"`

	// faults are those of env parameters that could not be read; they are reported with those of validation.
	faults field.ErrorList
}

// Faults returns what was wrong with the env parameters of the request, before any rule of validation.
func (e *ExecEnvironment) Faults() field.ErrorList { return e.faults }

// DeepCopyObject implements runtime.Object.
func (o *PodExecOptions) DeepCopyObject() runtime.Object {
	c := *o
	c.Command = slices.Clone(o.Command)
	c.Env = slices.Clone(o.Env)
	c.faults = slices.Clone(o.faults)
	return &c
}
