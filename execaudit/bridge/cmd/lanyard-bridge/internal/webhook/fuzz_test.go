package webhook

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

func FuzzAudit(f *testing.F) {
	f.Add([]byte(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"auditID":"a","annotations":{"exec.lanyard.dev/session":"x"}}]}`))
	f.Add([]byte(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"auditID":{"a":[1,"\n"]},"user":null,"annotations":{"exec.lanyard.dev/session":"x","a":"b"}},null]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		name := filepath.Join(t.TempDir(), "audit")
		to, err := openLines(name, false, rotation{})
		if err != nil {
			t.Fatal(err)
		}
		events := 0
		w := httptest.NewRecorder()
		auditHandler(to, func(n int) { events += n }).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/audit", bytes.NewReader(body)))
		if err := to.close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(data, []byte("\n")); lines != events || w.Code != http.StatusOK && lines > 0 {
			t.Fatalf("status %d, %d events, %q", w.Code, events, data)
		}
		// Each line is one that the join reads, or passes over with an error for that line alone.
		n := 0
		for range sessions.ReadAudits(bytes.NewReader(data), name) {
			n++
		}
		if n > events {
			t.Fatalf("%d of %d events", n, events)
		}
	})
}
