package execaudit

import "strings"

// AuditIDName is the variable that carries the API server's audit ID.
//
// Source: KEP-6035, Proposal.
const AuditIDName = "KUBERNETES_EXEC_AUDIT_ID"

// ReservedPrefix is what ReservePrefix reserves.
const ReservedPrefix = "KUBERNETES_"

// Reserved says which names a caller may not send. Names compare without regard
// to ASCII case, a deliberate step beyond the KEP: on a Windows node a
// lower-case forgery would be the same variable.
type Reserved int

const (
	// ReserveList reserves the KEP's constant list, ReservedNames. It is the
	// zero value.
	ReserveList Reserved = iota
	// ReservePrefix reserves every name that begins with KUBERNETES_, the
	// direction of the upstream API review. It also refuses overrides of
	// KUBERNETES_SERVICE_HOST and its like.
	ReservePrefix
)

// ReservedNames returns the constant list of reserved names, in a new slice.
//
// Source: KEP-6035, Validation.
func ReservedNames() []string {
	return []string{AuditIDName}
}

// Reason returns why a caller may not send name, naming who reserves it, and ""
// when the caller may. A name that breaks the rules is quoted and cut to 64 bytes.
func (r Reserved) Reason(name string) string {
	if strings.EqualFold(name, AuditIDName) {
		return AuditIDName + " is reserved by the API server"
	}
	if r == ReservePrefix && hasReservedPrefix(name) {
		return printable(name) + " is reserved by Kubernetes: it begins with " + ReservedPrefix
	}
	return ""
}

// Reserves reports whether a caller may not send name.
func (r Reserved) Reserves(name string) bool {
	return strings.EqualFold(name, AuditIDName) || r == ReservePrefix && hasReservedPrefix(name)
}

func hasReservedPrefix(name string) bool {
	return len(name) >= len(ReservedPrefix) && strings.EqualFold(name[:len(ReservedPrefix)], ReservedPrefix)
}
