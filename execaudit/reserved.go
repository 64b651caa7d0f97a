package execaudit

import "strings"

// AuditIDName is the variable that carries the API server's audit ID.
//
// Source: KEP-6035, Proposal.
const AuditIDName = "KUBERNETES_EXEC_AUDIT_ID"

// reservedPrefix is what ReservedPrefix reserves.
const reservedPrefix = "KUBERNETES_"

// Reserved says which names a caller may not send. Names compare without regard
// to ASCII case, a deliberate step beyond the KEP: on a Windows node a
// lower-case forgery would be the same variable.
type Reserved int

const (
	// ReservedList reserves the KEP's constant list, of which AuditIDName is the
	// only name. It is the zero value.
	ReservedList Reserved = iota
	// ReservedPrefix reserves every name that begins with KUBERNETES_, the
	// direction of the upstream API review. It also refuses overrides of
	// KUBERNETES_SERVICE_HOST and its like.
	ReservedPrefix
)

// Reason returns why a caller may not send name, naming who reserves it, and ""
// when the caller may. A name that breaks the rules is quoted and cut to 64 bytes.
func (r Reserved) Reason(name string) string {
	if strings.EqualFold(name, AuditIDName) {
		return AuditIDName + " is reserved by the API server"
	}
	if r == ReservedPrefix && hasReservedPrefix(name) {
		return printable(name) + " is reserved by Kubernetes: it begins with " + reservedPrefix
	}
	return ""
}

// Reserves reports whether a caller may not send name.
func (r Reserved) Reserves(name string) bool {
	return strings.EqualFold(name, AuditIDName) || r == ReservedPrefix && hasReservedPrefix(name)
}

func hasReservedPrefix(name string) bool {
	return len(name) >= len(reservedPrefix) && strings.EqualFold(name[:len(reservedPrefix)], reservedPrefix)
}
