package criwire

import (
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire/internal/envfield"
)

// Bounds of what Write and Read take. They are far above the API's, since other
// CRI clients than the kubelet may send an environment, and far below gRPC's
// 16 MiB message.
const (
	// MaxEntries is the most entries in one request.
	MaxEntries = envfield.MaxEntries
	// MaxBytes is the most bytes over all keys and values.
	MaxBytes = envfield.MaxBytes
)

// Errors that those of Write and Read unwrap to. Each names the position or the
// number, never a value.
var (
	// ErrMalformed: an entry in field 7 is not a KeyValue message, or the unknown
	// fields of the request do not parse.
	ErrMalformed = envfield.ErrMalformed
	// ErrTooMuch: over MaxEntries or MaxBytes.
	ErrTooMuch = envfield.ErrTooMuch
	// ErrNotCarriable: an entry has a key that is not UTF-8, which protobuf's string
	// forbids.
	ErrNotCarriable = envfield.ErrNotCarriable
	// ErrFieldTaken: this cri-api has a field 7 that is not repeated KeyValue.
	ErrFieldTaken = envfield.ErrFieldTaken
)

// Write puts envs into req, in order, in place of what field 7 held; other
// fields, unknown ones included, stay as they are. No entries: field 7 is gone.
// Values may be any bytes. envs is not kept. req must not be nil.
//
// On an error req is unchanged. The error unwraps to ErrNotCarriable,
// ErrTooMuch, ErrFieldTaken or, when the unknown fields do not parse,
// ErrMalformed.
//
// Source: KEP-6035, CRI Primitive.
func Write(req *runtimeapi.ExecRequest, envs []envprecedence.Entry) error {
	return envfield.Write(req.ProtoReflect(), envs)
}

// Read returns the entries in field 7 of req, in order, duplicates kept; nil
// for none or a nil req. They do not alias req. Keys and values are as sent:
// whether a process may have them is for envprecedence to check.
//
// The error unwraps to ErrMalformed, ErrTooMuch, ErrNotCarriable (a key that is
// not UTF-8) or ErrFieldTaken.
//
// Source: KEP-6035, CRI Primitive.
func Read(req *runtimeapi.ExecRequest) ([]envprecedence.Entry, error) {
	return envfield.Read(req.ProtoReflect())
}
