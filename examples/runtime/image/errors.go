package image

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound says that no stored image has this name, digest or ID.
	ErrNotFound = errors.New("image not found")
	// ErrEscape says that a name or link in a layer leaves the root file system.
	ErrEscape = errors.New("leaves the root file system")
	// ErrDevice says that a layer holds a device node, which this store does not make.
	ErrDevice = errors.New("is a device node")
	// ErrKind says that a layer holds an entry of a kind that a file system does not have.
	ErrKind = errors.New("is of an unknown kind")
	// ErrTooManyEntries says that a layer has more entries than [Limits] allow.
	ErrTooManyEntries = errors.New("too many entries")
	// ErrTooLarge says that a layer unpacks to more bytes than [Limits] allow.
	ErrTooLarge = errors.New("too large")
	// ErrDigest says that a layer's content is not what the image's configuration promises.
	ErrDigest = errors.New("content does not match its digest")
)

// LayerError says which layer could not be unpacked, at which entry, and why.
type LayerError struct {
	Layer string // its diff ID, such as "sha256:…"; empty when unpacked on its own
	Entry string // the entry's name, as the layer gives it; empty when the fault is not one entry's
	Err   error
}

// Error names the layer and the entry.
func (e *LayerError) Error() string {
	switch {
	case e.Layer == "":
		return fmt.Sprintf("layer entry %q: %v", e.Entry, e.Err)
	case e.Entry == "":
		return fmt.Sprintf("layer %s: %v", e.Layer, e.Err)
	default:
		return fmt.Sprintf("layer %s, entry %q: %v", e.Layer, e.Entry, e.Err)
	}
}

// Unwrap returns the cause, such as [ErrEscape].
func (e *LayerError) Unwrap() error { return e.Err }
