package apiserver

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// Exec treats exec requests. The zero value has both gates off and records
// nothing. It is safe for concurrent use when nobody changes it and the
// Recorder is.
type Exec struct {
	// Gates are this API server's.
	Gates execaudit.Gates
	// Reserved says which names callers may not send.
	Reserved execaudit.Reserved
	// Recorder counts results of Inject; nil counts nothing.
	Recorder Recorder
}

// Decode returns the entries that the env parameters of a client's exec URL
// carry, in order, as admission is to see them. With the gate ExecEnvVar off it
// returns nil, nil whatever rawQuery holds. It must be the text that the client sent,
// not what url.URL.Query makes of it, which drops what it cannot read.
//
// When there are faults, the entries are nil and the faults are
// execaudit.DecodeQuery's, within the KEP's limits, and with them those that Validate would
// have found in what could be read, all in the order of their places.
//
// Source: KEP-6035, PodExecOptions API type.
func (e Exec) Decode(rawQuery string) ([]envprecedence.Entry, field.ErrorList) {
	if !e.Gates.ExecEnvVar {
		return nil, nil
	}
	envs, faults := execaudit.DecodePartly(rawQuery, execaudit.Limits{})
	if len(faults) == 0 {
		return envs, nil
	}
	_, more := e.Validate(envs)
	return nil, execaudit.JoinFaults(faults, more.Filter(unnamed))
}

// unnamed matches the fault of an entry without a name: decoding has said what is wrong with it.
func unnamed(err error) bool {
	fault, ok := err.(*field.Error)
	return ok && fault.Type == field.ErrorTypeRequired
}

// Validate returns envs, the same slice, when it may go to the kubelet, else nil
// and every fault of execaudit.Validate under the path env. It must run after mutating admission,
// or a webhook could add what a caller may not. With the gate ExecEnvVar off
// the entries are dropped and not validated: nil, nil.
//
// Source: KEP-6035, Validation.
func (e Exec) Validate(envs []envprecedence.Entry) ([]envprecedence.Entry, field.ErrorList) {
	if !e.Gates.ExecEnvVar {
		return nil, nil
	}
	if faults := execaudit.Validate(envs, field.NewPath(execaudit.QueryParam), e.Reserved); len(faults) > 0 {
		return nil, faults
	}
	return envs, nil
}
