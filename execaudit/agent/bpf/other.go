//go:build !linux || !(amd64 || arm64)

package bpf

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// Programs are the kernel's programs, which this system or machine does not have.
type Programs struct{}

// Load returns ErrUnsupported.
func Load(Options) (*Programs, error) { return nil, ErrUnsupported }

// Remove returns ErrUnsupported.
func Remove(string) error { return ErrUnsupported }

// Probe returns that nothing can be loaded.
func Probe(string) []Finding {
	return []Finding{{Name: "this system and machine", Err: ErrUnsupported}}
}

// Read returns ErrUnsupported.
func (*Programs) Read(*agent.Observation) error { return ErrUnsupported }

// SetDeadline does nothing.
func (*Programs) SetDeadline(time.Time) {}

// Interrupt does nothing.
func (*Programs) Interrupt() {}

// Position returns 0.
func (*Programs) Position() uint64 { return 0 }

// Told does nothing.
func (*Programs) Told(position, lost uint64) {}

// Counters returns ErrUnsupported.
func (*Programs) Counters() (Counters, error) { return Counters{}, ErrUnsupported }

// Stats returns ErrUnsupported.
func (*Programs) Stats() ([]ProgramStats, error) { return nil, ErrUnsupported }

// Raw returns false.
func (*Programs) Raw() bool { return false }

// Close returns nil.
func (*Programs) Close() error { return nil }
