package webhook_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/webhook"
)

const list = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[
 {"auditID":"a","stage":"ResponseStarted","objectRef":{"resource":"pods","subresource":"exec"},"requestReceivedTimestamp":"2026-11-21T04:10:00Z"},
 {"auditID":"b","stage":"ResponseComplete","objectRef":{"resource":"pods","subresource":"log"}}]}`

func TestHandler(t *testing.T) {
	var got []attribution.Audit
	var faults int
	full := errors.New("full")
	h := &webhook.Handler{Fault: func(error) { faults++ }, Deliver: func(a []attribution.Audit) error {
		got = append(got, a...)
		if len(got) > 1 {
			return full
		}
		return nil
	}}
	for _, c := range []struct {
		name, method, body string
		code               int
	}{
		{"ATT-3 an EventList's exec requests are delivered", http.MethodPost, list, http.StatusOK},
		{"ATT-3 what was not taken is to be sent again", http.MethodPost, list, http.StatusServiceUnavailable},
		{"ATT-8 a malformed list is refused", http.MethodPost, list[:90], http.StatusBadRequest},
		{"ATT-8 a list that is too large is refused", http.MethodPost, strings.Repeat(" ", webhook.MaxBodyBytes+1), http.StatusRequestEntityTooLarge},
		{"another method is refused", http.MethodGet, "", http.StatusMethodNotAllowed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(c.method, "/", strings.NewReader(c.body)))
			if w.Code != c.code {
				t.Errorf("code %d, want %d", w.Code, c.code)
			}
		})
	}
	if len(got) != 2 || got[0].AuditID != "a" || faults != 2 {
		t.Errorf("delivered %v, %d faults", got, faults)
	}
}
