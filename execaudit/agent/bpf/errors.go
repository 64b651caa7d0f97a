package bpf

import "errors"

// The conditions that callers ask for.
var (
	// ErrUnsupported: this system, machine or kernel cannot run the programs.
	ErrUnsupported = errors.New("not supported")
	// ErrInUse: another reader has the pinned programs.
	ErrInUse = errors.New("in use by another process")
	// ErrInterrupted: Interrupt ended a Read.
	ErrInterrupted = errors.New("interrupted")
	// ErrMalformed: bytes of the ring are not a record.
	ErrMalformed = errors.New("malformed record")
	// ErrNotBPFFS: the directory for pins is not in a BPF file system.
	ErrNotBPFFS = errors.New("not in a BPF file system")
)
