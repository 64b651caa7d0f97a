package apiserver

import (
	"net/http"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// redactLog returns a handler that shows the filters after it a request line without environment values: it is what
// they log. The URL, which is what they act on, stays whole.
func redactLog(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := *r
		shown.RequestURI = execaudit.RedactURI(r.RequestURI)
		next.ServeHTTP(w, &shown)
	})
}

// redactedAudit is an audit backend whose events name the variables of an exec and not their values.
type redactedAudit struct {
	audit.Backend
}

// ProcessEvents implements audit.Sink. It changes copies, because other backends may hold the events.
func (b redactedAudit) ProcessEvents(events ...*auditinternal.Event) bool {
	shown := make([]*auditinternal.Event, len(events))
	for i, e := range events {
		c := *e
		c.RequestURI = execaudit.RedactURI(e.RequestURI)
		shown[i] = &c
	}
	return b.Backend.ProcessEvents(shown...)
}
