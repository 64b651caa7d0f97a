package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrTooLarge is the condition of a file of more than MaxFileBytes.
	ErrTooLarge = errors.New("file is larger than 8 MiB")
	// ErrDuplicate is the condition of two entries of one name in a list.
	ErrDuplicate = errors.New("duplicate name")
	// ErrNoEntry is the condition of a name of no entry.
	ErrNoEntry = errors.New("no such entry")
	// ErrNoServer is the condition of a cluster without a server.
	ErrNoServer = errors.New("server is required")
	// ErrAmbiguous is the condition of a user with a token and a name with password.
	ErrAmbiguous = errors.New("token and basic authentication exclude each other")
	// ErrNoKey is the condition of a user with a client certificate and no key.
	ErrNoKey = errors.New("client-certificate needs client-key")
	// ErrAuthProvider is the condition of a user whose only way of logging in is the plugin mechanism before exec.
	ErrAuthProvider = errors.New("auth-provider is not supported")
)

// SyntaxError says that a document is not a kubeconfig. Reason repeats nothing of the document, which may hold secrets.
type SyntaxError struct{ Reason string }

// Error returns the reason.
func (e *SyntaxError) Error() string { return "kubeconfig: " + e.Reason }

// EntryError says what is wrong with one entry.
type EntryError struct {
	// List is "clusters", "users" or "contexts".
	List string
	// Name is the entry's name.
	Name string
	// Err is the fault.
	Err error
}

// Error names the entry and the fault.
func (e *EntryError) Error() string { return fmt.Sprintf("%s %q: %v", e.List, e.Name, e.Err) }

// Unwrap returns Err.
func (e *EntryError) Unwrap() error { return e.Err }

// FileError says which file could not be read.
type FileError struct {
	// Path is the file.
	Path string
	// Err is the fault.
	Err error
}

// Error names the file, quoted, and the fault.
func (e *FileError) Error() string {
	fault := e.Err
	var repeated *fs.PathError // has the path once more, unquoted
	if errors.As(e.Err, &repeated) {
		fault = repeated.Err
	}
	return fmt.Sprintf("%q: %v", e.Path, fault)
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }
