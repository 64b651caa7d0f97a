package kubelet

import (
	"net/http"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// Bounds of what the kubelet reads from one URL. They are twice the API's,
// because the API server's own entries come on top of a caller's.
const (
	// MaxEntries is the most env parameters.
	MaxEntries = 2 * execaudit.MaxEnvEntries
	// MaxBytes is the most bytes over all names and values.
	MaxBytes = 2 * execaudit.MaxEnvBytes // 64 KiB
)

// Exec reads exec requests. The zero value is the safe default: the gate off,
// nobody trusted. It is safe for concurrent use when nobody changes it.
type Exec struct {
	// Gates are this kubelet's; only ExecEnvVar matters here.
	Gates execaudit.Gates
	// Reserved says which names only a trusted identity may send.
	Reserved execaudit.Reserved
	// Trust says who is trusted: the API server's client identity.
	Trust Trust
}

// Read returns the entries of an exec request in the order of the URL, for
// Resolve; nil when there are none or when the gate ExecEnvVar is off, whatever
// rawQuery holds.
//
// Errors are *RequestError: with code 400 for every fault of
// execaudit.DecodeQuery (a parameter without '=' or with an empty name, by its
// position, never its text) and over MaxEntries or MaxBytes; with code 403 for
// every reserved name from an identity that Trust does not trust. With both
// the code is 400 and the faults of both are there, in the order of their places. The
// second is beyond the KEP: without it whoever reaches the kubelet directly or
// through nodes/proxy can forge an audit ID.
//
// Source: KEP-6035, Kubelet.
func (e Exec) Read(rawQuery string, from Identity) ([]envprecedence.Entry, error) {
	if !e.Gates.ExecEnvVar {
		return nil, nil
	}
	envs, err := execaudit.DecodePartly(rawQuery, execaudit.Limits{Entries: MaxEntries, Bytes: MaxBytes})
	forged := e.forgeries(envs, from)
	switch {
	case err != nil:
		return nil, &RequestError{Code: http.StatusBadRequest, Faults: execaudit.FaultsOf(execaudit.JoinFaults(err, forged))}
	case len(forged) > 0:
		return nil, &RequestError{Code: http.StatusForbidden, Faults: forged}
	}
	return envs, nil
}

func (e Exec) forgeries(envs []envprecedence.Entry, from Identity) execaudit.Faults {
	if e.Trust.Trusts(from) {
		return nil
	}
	var faults execaudit.Faults
	for i := range envs {
		if reason := e.Reserved.Reason(envs[i].Name); reason != "" {
			faults = append(faults, &execaudit.Fault{Index: i, Field: "name", Kind: execaudit.FaultForbidden, Detail: reason})
		}
	}
	return faults
}
