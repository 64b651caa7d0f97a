package apiserver

import (
	"net/http"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// ClientIDs says what becomes of an Audit-ID header that a client set.
type ClientIDs int

const (
	// ClientIDsCheck keeps one that execaudit.CheckAuditID accepts and removes
	// every other. It is the zero value.
	ClientIDsCheck ClientIDs = iota
	// ClientIDsIgnore removes all of them, so that no client can reuse the ID
	// of another's session. Aggregated API servers then no longer share an ID
	// with the server in front of them.
	ClientIDsIgnore
)

// WithAuditIDCheck returns a handler that hands requests to next without an
// Audit-ID header that clients says to remove. It must stand in front of the
// filter that starts auditing: that filter then makes an ID of its own, and the
// audit event and the environment agree on it.
//
// Several Audit-ID headers in one request are removed too, and so is one that holds
// execaudit.PlaceholderAuditID, by which a session would look like one without an ID. The caller's request
// is not changed: next gets a copy when something is removed.
func WithAuditIDCheck(next http.Handler, clients ClientIDs) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ids := r.Header.Values(execaudit.AuditIDHeader); len(ids) > 0 && !keeps(clients, ids) {
			r = withoutAuditID(r)
		}
		next.ServeHTTP(w, r)
	})
}

func keeps(clients ClientIDs, ids []string) bool {
	return clients == ClientIDsCheck && len(ids) == 1 && ids[0] != execaudit.PlaceholderAuditID && execaudit.CheckAuditID(ids[0]) == nil
}

func withoutAuditID(r *http.Request) *http.Request {
	clean := r.WithContext(r.Context())
	clean.Header = r.Header.Clone()
	clean.Header.Del(execaudit.AuditIDHeader)
	return clean
}
