package criwire

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// fieldNumber is the field's number on the wire.
const fieldNumber protowire.Number = 7

// writeMessage replaces the environment of m, through its descriptor, so that one code serves the cri-api without the
// field and the one with it.
func writeMessage(m protoreflect.Message, envs []envprecedence.Entry) error {
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

// readMessage returns the environment of m.
func readMessage(m protoreflect.Message) ([]envprecedence.Entry, error) {
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
