package criwire

import (
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// Bounds of what Write and Read take. They are far above the API's, since other
// CRI clients than the kubelet may send an environment, and far below gRPC's
// 16 MiB message.
const (
	// MaxEntries is the most entries in one request.
	MaxEntries = 4096
	// MaxBytes is the most bytes over all keys and values.
	MaxBytes = 1 << 20 // 1 MiB
)

// Write puts envs into req, in order, in place of what field 7 held; other
// fields, unknown ones included, stay as they are. Without entries field 7 is removed.
// Values may be any bytes. envs is not kept. req must not be nil.
//
// On an error req is unchanged. The error unwraps to ErrNotCarriable,
// ErrTooMuch, ErrFieldTaken or, when the unknown fields do not parse,
// ErrMalformed.
//
// Source: KEP-6035, CRI Primitive.
func Write(req *runtimeapi.ExecRequest, envs []envprecedence.Entry) error {
	return writeMessage(req.ProtoReflect(), envs)
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
	return readMessage(req.ProtoReflect())
}
