// Package execaudit carries an exec session's environment, and with it the
// API server's audit ID, from the caller to the process (KEP-6035, "Exec
// session identity propagation", provisional text merged for v1.37).
//
// This package is the pure core: the entry type, its validation, the form it
// has in a URL, the gates and the reserved names. It reads no clock, no file
// and no environment. What touches the world lives one folder down:
//
//   - apiserver: validate, inject into the kubelet URL, guard proxied paths
//   - kubelet: read from the URL, refuse forgeries, resolve
//   - criwire: field 7 of the CRI's ExecRequest, before cri-api has it
//   - streaming: from the CRI's Exec call to the stream
//   - negotiate: does this runtime keep the promise?
//   - journal: the runtime's record of exec sessions
//
// The common call is
//
//	faults := execaudit.Validate(envs, field.NewPath("env"), execaudit.ReserveList)
//
// To decide which of several values for one name wins, use the sibling module
// envprecedence. To join a process event with its audit event, use the nested
// module attribution.
package execaudit
