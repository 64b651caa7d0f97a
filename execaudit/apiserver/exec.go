package apiserver

import (
	"slices"

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
// The error is execaudit.Faults, with nil entries: those of execaudit.DecodeQuery, within the
// KEP's limits, and with them those that Validate would have found in what could
// be read, all in the order of their places.
//
// Source: KEP-6035, PodExecOptions API type.
func (e Exec) Decode(rawQuery string) ([]envprecedence.Entry, error) {
	if !e.Gates.ExecEnvVar {
		return nil, nil
	}
	envs, err := execaudit.DecodePartly(rawQuery, execaudit.Limits{})
	if err == nil {
		return envs, nil
	}
	_, more := e.Validate(envs)
	return nil, execaudit.JoinFaults(err, slices.DeleteFunc(execaudit.FaultsOf(more), unnamed))
}

// unnamed matches the fault of an entry without a name: decoding has said what is wrong with it.
func unnamed(fault *execaudit.Fault) bool { return fault.Kind == execaudit.FaultRequired }

// Validate returns envs, the same slice, when it may go to the kubelet, else nil
// and execaudit.Faults, every fault of execaudit.Validate. It must run after mutating
// admission, or a webhook could add what a caller may not. With the gate ExecEnvVar off
// the entries are dropped and not validated: nil, nil.
//
// Source: KEP-6035, Validation.
func (e Exec) Validate(envs []envprecedence.Entry) ([]envprecedence.Entry, error) {
	if !e.Gates.ExecEnvVar {
		return nil, nil
	}
	if err := execaudit.Validate(envs, e.Reserved); err != nil {
		return nil, err
	}
	return envs, nil
}
