package admission_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

// encoded is a recorder that does all but writing.
type encoded struct{}

func (encoded) Record(r sessions.Record) error {
	_, err := sessions.Encode(r)
	return err
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkReview is one review through the http.Handler, from the body's bytes to the answer's, on one core.
func BenchmarkReview(b *testing.B) {
	command, _ := signed(b, alice, "sh", "-c", "id")
	found := known()
	o := options(nil)
	o.Lookup = lookup(func(context.Context, string) admission.Known { return found })
	o.Recorder = encoded{}
	for _, bench := range []struct {
		name    string
		handler http.Handler
		body    []byte
	}{
		{"signed", admission.Mutating(o), review(exec(alice, "sh", "-c", "id"))},
		{"again", admission.Mutating(o), review(exec(alice, command...))},
		{"validated", admission.Validating(o), review(exec(alice, command...))},
		{"attach", admission.Mutating(o), review(connect("attach", alice, execOptions("app")))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			began := processorTime()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/mutate?timeout=5s", bytes.NewReader(bench.body))
				r.Header.Set("Content-Type", "application/json")
				bench.handler.ServeHTTP(discard{http.Header{}}, r)
			}
			if spent := processorTime() - began; spent > 0 {
				b.ReportMetric(float64(b.N)/spent.Seconds(), "reviews/cpu-s")
			}
		})
	}
}

// processorTime is replaced where the system can tell it.
var processorTime = func() time.Duration { return time.Duration(time.Now().UnixNano()) }
