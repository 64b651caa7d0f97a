package sessions

import (
	"encoding/json"
	"io"
	"iter"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Read returns the records of a file that was written by Encode, in its order, in memory bounded by MaxLineBytes. A
// pair with an error has the zero Record: a *LineError for a line that is not a record, and the next pair is of what
// follows it; or what r returns, as the last pair. Empty lines and fields that are not known are passed over. name is
// for errors, usually the file's.
func Read(r io.Reader, name string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for line := range readLines(r, name, MaxLineBytes) {
			var record Record
			err := line.err
			if err == nil {
				if record, err = Decode(line.text); err != nil {
					err = &LineError{Name: name, Line: line.number, Err: err}
				}
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// Decode returns the record of one line, with or without its line end. Its error is a *Fault of ErrRecord or
// ErrVersion.
func Decode(line []byte) (Record, error) {
	all, err := members(line)
	if err != nil {
		return Record{}, &Fault{Err: ErrRecord, Rule: err.Error()}
	}
	version := 0
	if !into(all, "version", &version) || version != Version {
		return Record{}, &Fault{Err: ErrVersion, Field: "version", Rule: "is not 1"}
	}
	var r Record
	var session string
	for _, field := range []struct {
		key   string
		value any
	}{
		{"session", &session},
		{"requestUID", &r.RequestUID},
		{"time", &r.Time},
		{"userCut", &r.UserCut},
		{"namespace", &r.Namespace},
		{"pod", &r.Pod},
		{"podUID", &r.PodUID},
		{"container", &r.Container},
		{"node", &r.Node},
		{"command", &r.Command},
		{"commandCut", &r.CommandCut},
		{"tty", &r.TTY},
		{"source", &r.Source},
		{"outcome", &r.Outcome},
		{"reason", &r.Reason},
		{"expiry", &r.Expiry},
	} {
		if !into(all, field.key, field.value) {
			return Record{}, &Fault{Err: ErrRecord, Field: field.key, Rule: "is of another type"}
		}
	}
	if session != "" {
		if r.Session, err = bridge.ParseSessionID(session); err != nil {
			return Record{}, &Fault{Err: ErrRecord, Field: "session", Rule: "is not a session ID"}
		}
	}
	var ok bool
	if r.User, ok = decodeUser(all["user"], "name"); !ok {
		return Record{}, &Fault{Err: ErrRecord, Field: "user", Rule: "is of another type"}
	}
	if err := r.validate(); err != nil {
		return Record{}, err
	}
	return r.bounded(), nil
}

// decodeUser reads a user, whose name stands under a key of its own in records and in audit events; none is the zero
// one.
func decodeUser(raw json.RawMessage, name string) (token.User, bool) {
	var u token.User
	if raw == nil || string(raw) == "null" {
		return u, true
	}
	all, err := members(raw)
	ok := err == nil && into(all, name, &u.Name) && into(all, "uid", &u.UID) && into(all, "groups", &u.Groups) && into(all, "extra", &u.Extra)
	return u, ok
}
