package texts

import (
	"bytes"
	"math"
)

// Unset is the kernel's word for an audit session or a login UID that was never set; in its place stands 0.
const Unset = math.MaxUint32

// IfSet returns id, 0 for Unset.
func IfSet(id uint32) uint32 {
	if id == Unset {
		return 0
	}
	return id
}

// Claims are the session IDs in a process's environment: texts that it can choose.
type Claims struct {
	AuditID, ExecSession string
}

// Take keeps a variable's value, whose inside of a JSON string is raw, if the variable is one that carries an ID. Of
// one that is set twice, the first value that is not empty counts.
func (c *Claims) Take(s *Store, name, raw []byte) {
	into := &c.AuditID
	switch string(name) {
	case AuditIDName:
	case ExecSessionName:
		into = &c.ExecSession
	default:
		return
	}
	if *into == "" {
		*into = s.Text(raw)
	}
}

// TakeEntry is Take for NAME=VALUE.
func (c *Claims) TakeEntry(s *Store, entry []byte) {
	if name, value, ok := bytes.Cut(entry, []byte("=")); ok {
		c.Take(s, name, value)
	}
}

// SessionID reports whether text is a bridge's session ID: a UUID in lower case and not the zero one. It is what
// bridge.ParseSessionID takes, with the zero value left out (execaudit/bridge).
func SessionID(text string) bool {
	const form = "00000000-0000-0000-0000-000000000000"
	if len(text) != len(form) || text == form {
		return false
	}
	for i := range len(form) {
		switch b := text[i]; {
		case form[i] == '-' && b != '-', form[i] == '0' && b-'0' >= 10 && b-'a' >= 6:
			return false
		}
	}
	return true
}
