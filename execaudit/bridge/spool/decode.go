package spool

import (
	"bytes"
	"encoding/hex"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
)

// decoding takes members out of an object one by one. Any fault makes all of it malformed.
type decoding struct {
	text    []byte
	members map[string]jsonspan.Span
	failed  bool
}

func newDecoding(text []byte) (*decoding, error) {
	if !bytes.HasSuffix(text, []byte("}\n")) {
		return nil, ErrIncomplete
	}
	root, err := jsonspan.Parse(text)
	if err != nil {
		return nil, ErrMalformed
	}
	d := &decoding{text: text, members: map[string]jsonspan.Span{}}
	for name, at := range jsonspan.Members(text, root) {
		if _, twice := d.members[name]; twice {
			return nil, ErrMalformed
		}
		d.members[name] = at
	}
	if d.uint32("version") != Version {
		return nil, ErrMalformed
	}
	return d, nil
}

// finish returns [ErrMalformed] if anything was wrong or is left over.
func (d *decoding) finish() error {
	if d.failed || len(d.members) > 0 {
		return ErrMalformed
	}
	return nil
}

func take[T any](d *decoding, name string, read func([]byte, jsonspan.Span) (T, bool)) T {
	var value T
	at, ok := d.members[name]
	if ok {
		delete(d.members, name)
		value, ok = read(d.text, at)
	}
	d.failed = d.failed || !ok
	return value
}

func (d *decoding) string(name string) string    { return take(d, name, jsonspan.String) }
func (d *decoding) strings(name string) []string { return take(d, name, jsonspan.Strings) }
func (d *decoding) bool(name string) bool        { return take(d, name, jsonspan.Bool) }

func (d *decoding) uint32(name string) uint32 {
	value := take(d, name, jsonspan.Uint)
	d.failed = d.failed || value > 1<<32-1
	return uint32(value)
}

func (d *decoding) hex16(name string) (value [16]byte) {
	text := d.string(name)
	if len(text) != 32 {
		d.failed = true
		return value
	}
	_, err := hex.Decode(value[:], []byte(text))
	d.failed = d.failed || err != nil
	return value
}

func (d *decoding) session(name string) bridge.SessionID {
	text := d.string(name)
	if text == "" {
		return bridge.SessionID{}
	}
	id, err := bridge.ParseSessionID(text)
	d.failed = d.failed || err != nil
	return id
}

func (d *decoding) moment(name string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, d.string(name))
	d.failed = d.failed || err != nil
	return at.UTC()
}

func moment(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func sessionText(id bridge.SessionID) string {
	if id == (bridge.SessionID{}) {
		return ""
	}
	return id.String()
}
