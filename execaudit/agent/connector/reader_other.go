//go:build !linux

package connector

import "github.com/lanyard-dev/lanyard/execaudit/agent"

// Reader is a subscription to the kernel's process events, which Linux alone has.
type Reader struct{}

// Open returns ErrUnsupported.
func Open(Options) (*Reader, error) { return nil, ErrUnsupported }

// Read returns ErrUnsupported.
func (r *Reader) Read(*agent.Observation) error { return ErrUnsupported }

// Interrupt does nothing.
func (r *Reader) Interrupt() {}

// Counters returns none.
func (r *Reader) Counters() Counters { return Counters{} }

// Blind returns nothing.
func (r *Reader) Blind() []string { return nil }

// Close does nothing.
func (r *Reader) Close() error { return nil }
