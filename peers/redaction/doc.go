// Package redaction tests that no exported type of a published module shows a secret or an environment value by a verb
// of fmt, in JSON or in a log.
//
// The list of types is generated from the modules themselves (`go generate` writes exported_test.go; a test fails when
// it is stale). Each string and byte field of each type, exported or not, is filled with a marker and looked for in
// what is printed. A field is of a redacting type, or stands in one of two lists: printable.txt has what may be shown,
// and guarded.txt has plain strings that the methods of their struct hide, as they do everywhere but in somebody's
// unexported field, where fmt calls no method. A new field that is in neither fails, and so does a line that nothing
// shows.
package redaction

//go:generate go run ./typelist -w exported_test.go
