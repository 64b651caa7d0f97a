package execaudit

import (
	"fmt"
	"io"
	"log/slog"
)

// Redacted stands where an environment value was.
const Redacted = "[redacted]"

// Env is one entry of PodExecOptions.Env. Its JSON has the shape of
// corev1.EnvVar, so a list of them decodes from what a client of the
// Kubernetes API would send.
//
// Only the fields and the JSON form show the value. Every fmt verb, String and
// log/slog print NAME=[redacted]; fmt cannot ask an Env that sits in another
// struct's unexported field, so keep it in none that is printed.
//
// Source: KEP-6035, PodExecOptions API type.
type Env struct {
	// Name is the variable's name; Validate states its rules.
	Name string `json:"name"`
	// Value is literal: nothing in it is expanded. Empty is a value.
	Value string `json:"value,omitempty"`
	// ValueFrom is not nil when the sender asked for a value from elsewhere.
	// Validate refuses it: it is future work in the KEP.
	ValueFrom *ValueFrom `json:"valueFrom,omitempty"`
}

// ValueFrom marks that an entry had a valueFrom. Its content is not kept,
// because the only thing to do with it is to refuse it.
type ValueFrom struct{}

// String returns NAME=[redacted], with a name that breaks the rules quoted and
// cut to 64 bytes.
func (e Env) String() string {
	return printable(e.Name) + "=" + Redacted
}

// Format writes String whatever the verb, so that %#v and %d print no value
// either.
func (e Env) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, e.String())
}

// LogValue returns String for log/slog.
func (e Env) LogValue() slog.Value {
	return slog.StringValue(e.String())
}

// Environ returns one "NAME=VALUE" string per entry, in order, duplicates kept;
// nil for none. It checks nothing: entries with ValueFrom come out with an
// empty value.
func Environ(envs []Env) []string {
	if len(envs) == 0 {
		return nil
	}
	environ := make([]string, len(envs))
	for i, e := range envs {
		environ[i] = e.Name + "=" + e.Value
	}
	return environ
}
