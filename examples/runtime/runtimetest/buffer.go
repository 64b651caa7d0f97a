package runtimetest

import (
	"bytes"
	"sync"
)

// Buffer collects output. A session that was given up may still write while its test reads.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// Bytes returns a copy of what was written.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.b.Bytes())
}

// String returns what was written.
func (b *Buffer) String() string { return string(b.Bytes()) }

// Len returns how many bytes were written.
func (b *Buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Len()
}
