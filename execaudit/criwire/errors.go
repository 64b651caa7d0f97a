package criwire

import "errors"

// Errors that those of Write and Read unwrap to. Each names the position or the
// number, never a value.
var (
	// ErrMalformed: an entry in field 7 is not a KeyValue message, or the unknown
	// fields of the request do not parse.
	ErrMalformed = errors.New("malformed exec environment")
	// ErrTooMuch: over MaxEntries or MaxBytes.
	ErrTooMuch = errors.New("exec environment too large")
	// ErrNotCarriable: an entry has a key that is not UTF-8, which protobuf's string
	// forbids.
	ErrNotCarriable = errors.New("entry cannot travel in an ExecRequest")
	// ErrFieldTaken: this cri-api has a field 7 that is not repeated KeyValue.
	ErrFieldTaken = errors.New("field 7 is not repeated KeyValue")
)
