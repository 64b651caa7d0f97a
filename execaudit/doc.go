// Package execaudit carries an exec session's environment, and with it the
// API server's audit ID, from the caller to the process (KEP-6035, "Exec
// session identity propagation", provisional text merged for v1.37).
//
// This package is the pure core: the validation of entries, their forms in a URL,
// in JSON and on a command line, the gates and the reserved names. It reads no
// clock, no file and no environment. What touches the world lives one directory down:
//
//   - apiserver: validate, inject into the kubelet URL, through nodes/proxy too
//   - kubelet: read from the URL, refuse forgeries, resolve
//   - criwire: field 7 of the CRI's ExecRequest, before cri-api has it
//   - streaming: from the CRI's Exec call to the stream
//   - negotiate: does this runtime keep the promise?
//
// The common call is
//
//	err := execaudit.Validate(envs, execaudit.ReservedList)
//
// An entry is an envprecedence.Entry, whose value no print shows. Every function
// that finds faults returns all of them as one error, Faults.
//
// To decide which of several values for one name wins, use the sibling module
// envprecedence. To record exec sessions at the runtime, use the nested module
// journal, and to join a process event with its audit event, attribution.
package execaudit
