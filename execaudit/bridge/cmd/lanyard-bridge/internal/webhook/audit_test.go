package webhook

import (
	"bytes"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

func TestAudit(t *testing.T) {
	r := newRig(t)
	r.start()
	client := r.caller(nil)
	t.Run("BRG-12 the API server's audit events raise a record to corroborated", func(t *testing.T) {
		session := r.exec(client, "/"+secretPath+"/mutate", "cart").AuditAnnotations["session"]
		batch := `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[
{"level":"Request","auditID":"a-0","stage":"ResponseComplete","user":{"username":"bob"},"requestReceivedTimestamp":"2026-11-22T12:00:00.000000Z","stageTimestamp":"2026-11-22T12:00:00.000000Z"},
{"level":"Request","auditID":"a-1","stage":"ResponseStarted","requestURI":"/api/v1/namespaces/shop/pods/cart/exec?command=id","verb":"get",
"user":{"username":"alice","groups":["dev"]},"sourceIPs":["192.0.2.1"],"objectRef":{"resource":"pods","namespace":"shop","name":"cart","subresource":"exec"},
"requestObject":{"command":["lanyard-exec:1:secret"]},
"requestReceivedTimestamp":"2026-11-22T12:00:00.000000Z","stageTimestamp":"2026-11-22T12:00:00.000000Z",
"annotations":{"authorization.k8s.io/decision":"allow","exec.lanyard.dev/session":"` + session + `","exec.lanyard.dev/outcome":"marked","patch.webhook.admission.k8s.io/round_0_index_0":"lanyard-exec:1:secret"}}]}`
		if status, body := r.post(client, "/"+secretPath+"/audit", []byte(batch)); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, body)
		}
		data, err := os.ReadFile(r.options.AuditFile)
		if err != nil || bytes.Contains(data, []byte("secret")) || bytes.Contains(data, []byte("bob")) || bytes.Count(data, []byte("\n")) != 1 {
			t.Fatalf("%s, %v", data, err)
		}
		var audits []sessions.Audit
		for audit, err := range sessions.ReadAudits(bytes.NewReader(data), "audit") {
			if err != nil {
				t.Fatal(err)
			}
			audits = append(audits, audit)
		}
		verdict := sessions.Judge(sessions.Evidence{Records: r.records(), Audits: audits}, time.Now())
		if len(verdict) != 1 || verdict[0].Verdict != sessions.VerdictCorroborated || verdict[0].User.Name != "alice" {
			t.Fatalf("%+v", verdict)
		}
	})
	t.Run("BRG-6 what is not a batch is refused", func(t *testing.T) {
		for _, body := range []string{"", "{}", `{"kind":"Event","apiVersion":"audit.k8s.io/v1"}`, `{"kind":"EventList","apiVersion":"audit.k8s.io/v1beta1"}`} {
			if status, _ := r.post(client, "/"+secretPath+"/audit", []byte(body)); status != http.StatusBadRequest {
				t.Fatalf("status %d for %q", status, body)
			}
		}
		if status, _ := r.post(client, "/audit", nil); status != http.StatusNotFound {
			t.Fatalf("status %d without the secret path", status)
		}
	})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	t.Run("BRG-6 a batch that cannot be written is sent again", func(t *testing.T) {
		r := newRig(t)
		r.options.AuditFile = "/dev/full"
		r.start()
		batch := `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"annotations":{"exec.lanyard.dev/session":"x"}}]}`
		if status, _ := r.post(r.caller(nil), "/"+secretPath+"/audit", []byte(batch)); status != http.StatusInternalServerError {
			t.Fatalf("status %d", status)
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
	})
}
