// Package envfield finds and fills the environment field of an ExecRequest
// through its descriptor, so that one code serves the cri-api without the field
// and the one with it.
package envfield

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

const (
	// Number is the field's number on the wire.
	Number protowire.Number = 7
	// MaxEntries is the most entries in one request.
	MaxEntries = 4096
	// MaxBytes is the most bytes over all keys and values.
	MaxBytes = 1 << 20 // 1 MiB
)

// Errors that those of this package unwrap to.
var (
	// ErrMalformed is for an entry that is not a KeyValue message and for unknown
	// fields that do not parse.
	ErrMalformed = errors.New("malformed exec environment")
	// ErrTooMuch is for more than MaxEntries or MaxBytes.
	ErrTooMuch = errors.New("exec environment too large")
	// ErrNotCarriable is for an entry the field cannot carry.
	ErrNotCarriable = errors.New("entry cannot travel in an ExecRequest")
	// ErrFieldTaken is for a descriptor with another field 7.
	ErrFieldTaken = errors.New("field 7 is not repeated KeyValue")
)

// Write replaces the environment of m.
func Write(m protoreflect.Message, envs []envprecedence.Entry) error {
	if err := check(envs); err != nil {
		return err
	}
	typed, err := find(m.Descriptor())
	if err != nil {
		return err
	}
	if typed != nil {
		return typed.write(m, envs)
	}
	unknown := m.GetUnknown()
	if len(unknown) == 0 && len(envs) == 0 {
		return nil
	}
	replaced, err := replace(unknown, envs)
	if err != nil {
		return err
	}
	m.SetUnknown(replaced)
	return nil
}

// Read returns the environment of m.
func Read(m protoreflect.Message) ([]envprecedence.Entry, error) {
	typed, err := find(m.Descriptor())
	if err != nil {
		return nil, err
	}
	if typed != nil {
		return typed.read(m)
	}
	return parse(m.GetUnknown())
}

// check is what both forms of the field demand.
func check(envs []envprecedence.Entry) error {
	size := 0
	for i := range envs {
		if !utf8.ValidString(envs[i].Name) {
			return keyError(i)
		}
		size += len(envs[i].Name) + len(envs[i].Value.Reveal())
	}
	return bound(len(envs), size)
}

func keyError(i int) error {
	return fmt.Errorf("%w: the key of entry %d is not valid UTF-8", ErrNotCarriable, i)
}

func bound(entries, size int) error {
	switch {
	case entries > MaxEntries:
		return fmt.Errorf("%w: %d entries exceed %d", ErrTooMuch, entries, MaxEntries)
	case size > MaxBytes:
		return fmt.Errorf("%w: %d bytes exceed %d", ErrTooMuch, size, MaxBytes)
	}
	return nil
}
