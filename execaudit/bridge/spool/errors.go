package spool

import "errors"

// The conditions of this package.
var (
	// ErrReplayed: the nonce's file stands already.
	ErrReplayed = errors.New("token was used before")
	// ErrMalformed: a file is not what this package writes.
	ErrMalformed = errors.New("malformed spool file")
	// ErrIncomplete: a file is being written, or its writer ended before the session could begin.
	ErrIncomplete = errors.New("incomplete spool file")
)

// FileError is what is wrong with one file of the directory.
type FileError struct {
	// Name is the file's name in the directory.
	Name string
	Err  error
}

// Error returns the name and what is wrong.
func (e *FileError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }
