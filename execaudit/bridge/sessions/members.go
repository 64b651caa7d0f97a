package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var (
	errNotObject = errors.New("is not a JSON object")
	errDuplicate = errors.New("has a duplicate key")
)

// members returns the members of one JSON object, keys as they are. Unlike encoding/json it tells keys apart that
// differ in case, and takes none twice: two readers of one line must not read two different things.
func members(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errNotObject
		}
		name, ok := key.(string)
		if !ok {
			return nil, errNotObject
		}
		if _, again := all[name]; again {
			return nil, errDuplicate
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errNotObject
		}
		all[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errNotObject
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errNotObject
	}
	return all, nil
}

// into reads a member into a value; one that is missing or null leaves it alone.
func into(all map[string]json.RawMessage, key string, value any) bool {
	raw, ok := all[key]
	return !ok || json.Unmarshal(raw, value) == nil
}
