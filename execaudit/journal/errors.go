package journal

import (
	"errors"
	"fmt"
)

// Errors of a Record and of a line.
var (
	// ErrInvalidRecord is what a *Fault unwraps to.
	ErrInvalidRecord = errors.New("invalid journal record")
	// ErrNotJSON: a line is not a JSON object with a record's field types, each
	// known key at most once: among others one that a crash left unfinished.
	ErrNotJSON = errors.New("not a journal record in JSON")
	// ErrLineTooLong: a record's line is longer than MaxLineBytes.
	ErrLineTooLong = errors.New("journal record too long")
)

// ErrSyncFailed: the file could not be synced, now or earlier. What a Writer took
// since the sync before may be lost, and a later sync that succeeds would not say
// so. So the Writer writes nothing any more; Close it and Open anew.
var ErrSyncFailed = errors.New("journal could not be synced")

// Errors of Open. Each comes wrapped, with the path.
var (
	// ErrNotRegular: the path is not a regular file but, say, a symlink, a FIFO or a directory.
	ErrNotRegular = errors.New("journal is not a regular file")
	// ErrNotPrivate: the file belongs to another user or has a second name (a hard
	// link), so others could have it under their control.
	ErrNotPrivate = errors.New("journal is not this user's alone")
	// ErrInUse: another Writer has the file, in this process or another.
	ErrInUse = errors.New("journal has another writer")
)

// Fault is the first rule that a record breaks. It unwraps to ErrInvalidRecord.
type Fault struct {
	// Field is the field's key in JSON, such as "pid".
	Field string
	// Rule says what is wrong, such as "is missing". It repeats no text of the record.
	Rule string
}

// Error returns "invalid journal record: FIELD RULE".
func (f *Fault) Error() string {
	return fmt.Sprintf("%v: %s %s", ErrInvalidRecord, f.Field, f.Rule)
}

// Unwrap returns ErrInvalidRecord.
func (*Fault) Unwrap() error {
	return ErrInvalidRecord
}

// LineError is a line that is not a record. It repeats nothing of the line.
type LineError struct {
	// Name is the journal's name as given to NewReader.
	Name string
	// Line counts from 1.
	Line int
	// Err is ErrNotJSON, a *Fault, or unwraps to ErrLineTooLong.
	Err error
}

// Error returns "NAME:LINE: what is wrong".
func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *LineError) Unwrap() error {
	return e.Err
}
