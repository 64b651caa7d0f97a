package execaudit

import (
	"errors"
	"fmt"
)

const (
	// AuditIDHeader is the HTTP header in which a client may send an audit ID
	// of its own choice, and in which the API server answers with the one used.
	AuditIDHeader = "Audit-ID"
	// PlaceholderAuditID is the value of AuditIDName when there is no audit
	// context or its ID is empty (KEP-6035, Audit ID Propagation).
	PlaceholderAuditID = "unknown"
	// maxAuditIDBytes is the longest audit ID that CheckAuditID accepts.
	maxAuditIDBytes = 64
)

// ErrBadAuditID is what errors of CheckAuditID unwrap to.
var ErrBadAuditID = errors.New("bad audit ID")

// CheckAuditID returns nil when id has 1 to 64 characters of
// [A-Za-z0-9._-], which every UUID has. Else the error, which unwraps to
// ErrBadAuditID, names the length or the position of the first bad byte and
// never repeats the ID.
func CheckAuditID(id string) error {
	if len(id) == 0 || len(id) > maxAuditIDBytes {
		return fmt.Errorf("%w: %d bytes long, must be 1 to %d", ErrBadAuditID, len(id), maxAuditIDBytes)
	}
	for i := range len(id) {
		if !isNameByte(id[i]) {
			return fmt.Errorf("%w: byte %d is not one of [A-Za-z0-9._-]", ErrBadAuditID, i)
		}
	}
	return nil
}
