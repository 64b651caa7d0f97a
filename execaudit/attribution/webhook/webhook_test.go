package webhook_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/webhook"
)

const list = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[
 {"auditID":"a","stage":"ResponseStarted","user":{"username":"alice"},"objectRef":{"resource":"pods","namespace":"shop","name":"web-0","subresource":"exec"},"requestReceivedTimestamp":"2026-11-21T04:10:00Z"},
 {"auditID":"b","stage":"ResponseComplete","objectRef":{"resource":"pods","subresource":"log"}}]}`

// TestLive joins what an API server sends with events as they come, with nothing but the packages' own seams between.
func TestLive(t *testing.T) {
	t.Run("ATT-3 an exec received by the webhook names the user of a process", func(t *testing.T) {
		audits, events := make(chan *lines.Batch, 1), make(chan *lines.Batch, 1)
		h := &webhook.Handler{Deliver: func(a []attribution.Audit) error {
			audits <- &lines.Batch{Batch: attribution.Batch{Audits: a}}
			return nil
		}}
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(list)))
		close(audits)
		at, first := time.Date(2026, 11, 21, 4, 10, 1, 0, time.UTC), attribution.Process{PID: 10, StartTicks: 10, BootID: "boot"}
		events <- &lines.Batch{Batch: attribution.Batch{
			Events: []attribution.Event{{Time: at, Kind: attribution.KindExec, Node: "n1", ContainerID: "8762eafc25a3", Process: first, AuditID: "a"}},
			Records: []attribution.Record{{
				Phase: attribution.PhaseStart, Time: at, Node: "n1", ContainerID: "8762eafc25a3", ExecID: "e", AuditID: "a", Namespace: "shop", Pod: "web-0", Process: first,
			}},
		}}
		close(events)
		var user string
		m := attribution.New(attribution.Options{}, func(a *attribution.Answer) { user = a.Verdict.String() + " " + a.Session.User.Name })
		join.Live(t.Context(), m, []<-chan *lines.Batch{audits, events}, nil, join.Trouble{})
		if user != "corroborated alice" {
			t.Errorf("answer %q", user)
		}
	})
}

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
