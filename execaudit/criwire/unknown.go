package criwire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/redact"
)

// Numbers of KeyValue's fields.
const (
	keyNumber   protowire.Number = 1
	valueNumber protowire.Number = 2
)

// replace returns a new slice: the fields of unknown that are not ours, then envs.
func replace(unknown []byte, envs []envprecedence.Entry) ([]byte, error) {
	size := 0 // others' fields are rare
	for i := range envs {
		size += protowire.SizeTag(fieldNumber) + protowire.SizeBytes(pairSize(&envs[i]))
	}
	replaced := make([]byte, 0, size)
	for rest := unknown; len(rest) > 0; {
		number, kind, length := protowire.ConsumeField(rest)
		if length < 0 {
			return nil, fmt.Errorf("%w: unknown fields do not parse", ErrMalformed)
		}
		if !isOurs(number, kind) {
			replaced = append(replaced, rest[:length]...)
		}
		rest = rest[length:]
	}
	for i := range envs {
		replaced = appendEntry(replaced, &envs[i])
	}
	return replaced, nil
}

// isOurs wants the wire type too: field 7 of another type is not the
// environment but a stranger's field, which protobuf keeps.
func isOurs(number protowire.Number, kind protowire.Type) bool {
	return number == fieldNumber && kind == protowire.BytesType
}

func appendEntry(b []byte, e *envprecedence.Entry) []byte {
	b = protowire.AppendTag(b, fieldNumber, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(pairSize(e)))
	b = appendText(b, keyNumber, e.Name)
	return appendText(b, valueNumber, e.Value.Reveal())
}

// appendText leaves an empty text out, as proto3 does.
func appendText(b []byte, number protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	b = protowire.AppendTag(b, number, protowire.BytesType)
	return protowire.AppendString(b, text)
}

func pairSize(e *envprecedence.Entry) int {
	return textSize(keyNumber, e.Name) + textSize(valueNumber, e.Value.Reveal())
}

func textSize(number protowire.Number, text string) int {
	if text == "" {
		return 0
	}
	return protowire.SizeTag(number) + protowire.SizeBytes(len(text))
}

// parse reads the entries in unknown. It goes over them twice, so that three
// allocations of the right size do for any number of entries.
func parse(unknown []byte) ([]envprecedence.Entry, error) {
	count, size := 0, 0
	err := eachEntry(unknown, func(key, value []byte) error {
		count, size = count+1, size+len(key)+len(value)
		if !utf8.Valid(key) {
			return keyError(count - 1)
		}
		return bound(count, size)
	})
	if err != nil || count == 0 {
		return nil, err
	}
	var text strings.Builder
	text.Grow(size)
	envs, hide := make([]envprecedence.Entry, 0, count), redact.Block(count)
	err = eachEntry(unknown, func(key, value []byte) error {
		envs = append(envs, envprecedence.Entry{Name: keep(&text, key), Value: hide(keep(&text, value))})
		return nil
	})
	return envs, err
}

// keep copies b into text and returns the copy. text has room, so earlier copies stay.
func keep(text *strings.Builder, b []byte) string {
	start := text.Len()
	text.Write(b)
	return text.String()[start:]
}

func eachEntry(unknown []byte, visit func(key, value []byte) error) error {
	for i := 0; len(unknown) > 0; {
		f, rest, ok := next(unknown)
		if !ok {
			return fmt.Errorf("%w: unknown fields do not parse", ErrMalformed)
		}
		unknown = rest
		if !isOurs(f.number, f.kind) {
			continue
		}
		key, value, ok := pair(f.text)
		if !ok {
			return fmt.Errorf("%w: entry %d is not a KeyValue", ErrMalformed, i)
		}
		if err := visit(key, value); err != nil {
			return err
		}
		i++
	}
	return nil
}

// pair reads one KeyValue. Of a field that comes twice the last counts, and
// unknown fields are skipped, both as protobuf says.
func pair(raw []byte) (key, value []byte, ok bool) {
	for len(raw) > 0 {
		f, rest, ok := next(raw)
		if !ok {
			return nil, nil, false
		}
		raw = rest
		switch {
		case f.kind != protowire.BytesType:
		case f.number == keyNumber:
			key = f.text
		case f.number == valueNumber:
			value = f.text
		}
	}
	return key, value, true
}

// rawField is one field on the wire.
type rawField struct {
	number protowire.Number
	kind   protowire.Type
	text   []byte // the content, if kind is BytesType
}

// next takes one field off b.
func next(b []byte) (f rawField, rest []byte, ok bool) {
	number, kind, tag := protowire.ConsumeTag(b)
	if tag < 0 {
		return rawField{}, nil, false
	}
	b = b[tag:]
	f = rawField{number: number, kind: kind}
	var length int
	if kind == protowire.BytesType {
		f.text, length = protowire.ConsumeBytes(b)
	} else {
		length = protowire.ConsumeFieldValue(number, kind, b)
	}
	if length < 0 {
		return rawField{}, nil, false
	}
	return f, b[length:], true
}
