package criwire

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

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

// InvalidError says that a request cannot be served whoever asks: a gRPC server that returns it, wrapped or not, answers
// InvalidArgument. It never holds a value.
type InvalidError struct {
	Err error // what is wrong, not nil
}

// Error returns Err's text.
func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *InvalidError) Unwrap() error { return e.Err }

// GRPCStatus returns InvalidArgument with Err's text, which google.golang.org/grpc/status asks for.
func (e *InvalidError) GRPCStatus() *status.Status {
	return status.New(codes.InvalidArgument, e.Error())
}
