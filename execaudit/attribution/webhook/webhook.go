// Package webhook receives audit EventLists, as an API server's --audit-webhook-config-file sends them. To join them
// with events as they come, let Deliver send a lines.Batch to a channel that join.Live reads.
package webhook

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/auditlog"
)

// MaxBodyBytes bounds one EventList; the API server's own default is 10 MiB.
const MaxBodyBytes = 16 << 20 // 16 MiB

// Handler hands the exec requests of each EventList to Deliver. It answers 200 once Deliver has returned, so that the
// API server sends again what did not arrive; 405 for a method other than POST, 413 over MaxBodyBytes, 400 for a body
// that is not an EventList.
//
// It does not authenticate: put it behind TLS that asks for the API server's client certificate.
type Handler struct {
	// Deliver may be called by several goroutines at once. It owns the slice. An error makes the answer 503.
	Deliver func([]attribution.Audit) error
	// Fault is called with why a body could not be used. If nil, that is discarded.
	Fault func(error)
}

// ServeHTTP receives one EventList.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if err != nil {
		h.refuse(w, err)
		return
	}
	var b attribution.Batch
	if err := auditlog.Decode(bytes.TrimSpace(body), &b); err != nil {
		h.refuse(w, err)
		return
	}
	if err := h.Deliver(b.Audits); err != nil {
		http.Error(w, "not taken, send again", http.StatusServiceUnavailable)
	}
}

func (h *Handler) refuse(w http.ResponseWriter, err error) {
	if h.Fault != nil {
		h.Fault(err)
	}
	code := http.StatusBadRequest
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		code = http.StatusRequestEntityTooLarge
	}
	http.Error(w, http.StatusText(code), code)
}
