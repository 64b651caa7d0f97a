// Package redaction tests that no exported type of a published module shows a secret or an environment value by a verb of
// fmt, in JSON or in a log.
//
// The list of types is generated from the modules themselves (`go generate` writes exported_test.go; a test fails when it is
// stale). Each string and byte field of each type is filled with a marker and looked for in what is printed. A field that
// shows is an error unless printable.txt lists it as harmless, or leaking.txt as a leak that is known and still to be closed.
package redaction

//go:generate go test -run ^TestTypeList$ -update .
