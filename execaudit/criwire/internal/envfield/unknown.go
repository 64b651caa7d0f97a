package envfield

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// Numbers of KeyValue's fields.
const (
	keyNumber   protowire.Number = 1
	valueNumber protowire.Number = 2
)

// replace returns a new slice: the fields of unknown that are not ours, then envs.
func replace(unknown []byte, envs []execaudit.Env) ([]byte, error) {
	size := len(unknown)
	for i := range envs {
		size += protowire.SizeTag(Number) + protowire.SizeBytes(pairSize(&envs[i]))
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
	return number == Number && kind == protowire.BytesType
}

func appendEntry(b []byte, e *execaudit.Env) []byte {
	b = protowire.AppendTag(b, Number, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(pairSize(e)))
	b = appendText(b, keyNumber, e.Name)
	return appendText(b, valueNumber, e.Value)
}

// appendText leaves an empty text out, as proto3 does.
func appendText(b []byte, number protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	b = protowire.AppendTag(b, number, protowire.BytesType)
	return protowire.AppendString(b, text)
}

func pairSize(e *execaudit.Env) int {
	return textSize(keyNumber, e.Name) + textSize(valueNumber, e.Value)
}

func textSize(number protowire.Number, text string) int {
	if text == "" {
		return 0
	}
	return protowire.SizeTag(number) + protowire.SizeBytes(len(text))
}

// parse reads the entries in unknown. It goes over them twice, so that two
// allocations of the right size do for any number of entries.
func parse(unknown []byte) ([]execaudit.Env, error) {
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
	envs := make([]execaudit.Env, 0, count)
	err = eachEntry(unknown, func(key, value []byte) error {
		envs = append(envs, execaudit.Env{Name: keep(&text, key), Value: keep(&text, value)})
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
		number, kind, tag := protowire.ConsumeTag(unknown)
		length := protowire.ConsumeFieldValue(number, kind, unknown[max(tag, 0):])
		if tag < 0 || length < 0 {
			return fmt.Errorf("%w: unknown fields do not parse", ErrMalformed)
		}
		if isOurs(number, kind) {
			raw, _ := protowire.ConsumeBytes(unknown[tag:])
			key, value, ok := pair(raw)
			if !ok {
				return fmt.Errorf("%w: entry %d is not a KeyValue", ErrMalformed, i)
			}
			if err := visit(key, value); err != nil {
				return err
			}
			i++
		}
		unknown = unknown[tag+length:]
	}
	return nil
}

// pair reads one KeyValue. Of a field that comes twice the last counts, and
// unknown fields are skipped, both as protobuf says.
func pair(raw []byte) (key, value []byte, ok bool) {
	for len(raw) > 0 {
		number, kind, tag := protowire.ConsumeTag(raw)
		if tag < 0 {
			return nil, nil, false
		}
		length := protowire.ConsumeFieldValue(number, kind, raw[tag:])
		if length < 0 {
			return nil, nil, false
		}
		if kind == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(raw[tag:])
			switch number {
			case keyNumber:
				key = text
			case valueNumber:
				value = text
			}
		}
		raw = raw[tag+length:]
	}
	return key, value, true
}
