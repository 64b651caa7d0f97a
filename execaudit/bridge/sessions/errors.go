package sessions

import (
	"errors"
	"fmt"
)

// What is wrong with a record or a line.
var (
	// ErrRecord: something is not a session record.
	ErrRecord = errors.New("not a session record")
	// ErrVersion: a session record of a version that this package does not know.
	ErrVersion = errors.New("unknown version of a session record")
	// ErrAudit: something is neither an audit event nor a list of them.
	ErrAudit = errors.New("not an audit event")
	// ErrLineTooLong: a line is longer than MaxLineBytes, or MaxAuditBytes.
	ErrLineTooLong = errors.New("line too long")
)

// Fault is what is wrong with a record or an audit event. It repeats nothing of it.
type Fault struct {
	// Err is ErrRecord, ErrVersion or ErrAudit.
	Err error
	// Field is the field's key in JSON; empty where there is no one field.
	Field string
	// Rule says what is wrong, such as "is missing".
	Rule string
}

// Error returns what is wrong in one line.
func (f *Fault) Error() string {
	if f.Field == "" {
		return fmt.Sprintf("%v: %s", f.Err, f.Rule)
	}
	return fmt.Sprintf("%v: %s %s", f.Err, f.Field, f.Rule)
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// LineError is a line that cannot be used. It repeats nothing of it.
type LineError struct {
	// Name is the file's name as given to Read or ReadAudits.
	Name string
	// Line counts from 1.
	Line int
	// Err is a *Fault or unwraps to ErrLineTooLong.
	Err error
}

// Error returns "NAME:LINE: what is wrong".
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }
