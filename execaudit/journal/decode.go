package journal

import (
	"bytes"
	"encoding/json"
)

// decodeExact reads one line into r and reports whether it was a JSON value with
// a record's field types. It exists because encoding/json takes a key in any case
// for a field's, and the last of two for the one that counts: another reader of
// the same line would see another record.
func decodeExact(line []byte, r *Record) bool {
	if !json.Valid(line) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(line))
	begin, err := d.Token()
	if err != nil || begin == nil { // null is a record without fields
		return err == nil
	}
	if begin != json.Delim('{') {
		return false
	}
	seen := make(map[any]bool)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		into := r.field(key.(string)) // in valid JSON a key is a string
		if into != nil && seen[key] || d.Decode(orSkip(into)) != nil {
			return false
		}
		seen[key] = true
	}
	return true
}

// field returns where the value of a key goes, nil for an unknown one.
func (r *Record) field(key string) any {
	switch key {
	case "version":
		return &r.Version
	case "kind":
		return &r.Kind
	case "time":
		return &r.Time
	case "argv":
		return &r.Argv
	case "argvTruncated":
		return &r.ArgvTruncated
	case "tty":
		return &r.TTY
	case "exitCode":
		return &r.ExitCode
	case "reason":
		return &r.Reason
	case "pid":
		return &r.PID
	case "startTicks":
		return &r.StartTicks
	case "bootID":
		return &r.BootID
	}
	return r.Session.field(key)
}

func (s *Session) field(key string) any {
	switch key {
	case "node":
		return &s.Node
	case "containerID":
		return &s.ContainerID
	case "execID":
		return &s.ExecID
	case "auditID":
		return &s.AuditID
	case "sandboxID":
		return &s.SandboxID
	case "namespace":
		return &s.Namespace
	case "pod":
		return &s.Pod
	case "podUID":
		return &s.PodUID
	case "container":
		return &s.Container
	}
	return nil
}

func orSkip(into any) any {
	if into == nil {
		return new(json.RawMessage)
	}
	return into
}
