package bridge_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// refusals is how many the node's journal has, when nothing waits.
func refusals(t *testing.T, r *bridge.Rig) int {
	t.Helper()
	found, err := r.Refusals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// oneMoreRefusal fails the test where the journal has not one refusal more than before.
func oneMoreRefusal(t *testing.T, r *bridge.Rig, before int) {
	t.Helper()
	if after := refusals(t, r); after != before+1 {
		t.Errorf("the journal has %d refusals, want %d", after, before+1)
	}
}

// intentOf returns the journal's intent of the session.
func intentOf(t *testing.T, r *bridge.Rig, session string) journal.Record {
	t.Helper()
	found, err := r.AwaitJournal(t.Context(), func(j journal.Record) bool { return j.Kind == journal.KindIntent && j.ExecSession == session })
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// newestIntent returns the journal's newest one, when nothing waits.
func newestIntent(t *testing.T, r *bridge.Rig) journal.Record {
	t.Helper()
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := r.Journal(func(j journal.Record) bool { return j.Kind == journal.KindIntent })
	if err != nil || len(found) == 0 {
		t.Fatalf("%d intents, %v", len(found), err)
	}
	return found[len(found)-1]
}

func who(t *testing.T, r *bridge.Rig) *bridge.Who {
	t.Helper()
	w, err := r.Who(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// markOf is a process by what it said of itself.
func markOf(r report.Report) bridge.Process {
	return bridge.Process{Session: r.AuditSession, LoginUID: r.LoginUID}
}

// TestVerdicts has sessions with all evidence, and with none.
func TestVerdicts(t *testing.T) {
	r := rigOf(t)
	t.Run("BRG-12 a session with record, audit event and journal is corroborated, with its user", func(t *testing.T) {
		id := sessionID(t, marked(t, reported(t, person(t, r, "carol"), shared.pod)))
		got, _ := who(t, r).Session(id)
		if got.Verdict != sessions.VerdictCorroborated || got.User.Name != "carol" || len(got.Records) == 0 || len(got.Uses) != 1 {
			t.Errorf("%s by %q: %s, %d records, %d uses", got.Verdict, got.User.Name, got.Why, len(got.Records), len(got.Uses))
		}
		if records := got.Records; len(records) > 0 && (records[0].Source != sessions.SourceExec || records[0].Pod != shared.pod.Name) {
			t.Errorf("record %+v", records[0])
		}
	})
	t.Run("BRG-12 a good token that no API server asked for is forged", func(t *testing.T) {
		tok := bridge.NewToken(shared.pod, "/reporter")
		direct(t, r, shared.pod, sign(t, r.Key(), tok), "/reporter")
		if got, _ := who(t, r).Session(tok.Session); got.Verdict != sessions.VerdictForged || got.User.Name != "" {
			t.Errorf("%s by %q, want %s by nobody", got.Verdict, got.User.Name, sessions.VerdictForged)
		}
	})
}

// TestCallers has others than the API server call the webhook.
func TestCallers(t *testing.T) {
	r := rigOf(t)
	stranger, err := r.Authority().Client("somebody-else")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := stranger.TLS()
	if err != nil {
		t.Fatal(err)
	}
	for name, certificates := range map[string][]tls.Certificate{"without a certificate": nil, "with another's certificate": {certificate}} {
		t.Run("BRG-12 a caller "+name+" has no token made", func(t *testing.T) {
			if status, err := knock(t, r, r.WebhookURL()+"/mutate", certificates); err == nil && status/100 != 4 {
				t.Errorf("it is answered with %d", status)
			}
		})
	}
}

// knock calls the webhook from inside the cluster's network, and returns the status.
func knock(t *testing.T, r *bridge.Rig, url string, certificates []tls.Certificate) (int, error) {
	t.Helper()
	client := &http.Client{Timeout: execPatience, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: r.Authority().Pool(), Certificates: certificates},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return r.Dial(ctx, network, address)
		},
	}}
	review := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: "of-a-stranger", Operation: admissionv1.Connect, Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"}, SubResource: "exec",
		Namespace: "default", Name: "app", Object: runtime.RawExtension{Object: &corev1.PodExecOptions{Command: []string{"/reporter"}}},
	}}
	text, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func sessionID(t *testing.T, text string) brg.SessionID {
	t.Helper()
	id, err := brg.ParseSessionID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// admittedAs waits for the webhook's record of the session.
func admittedAs(t *testing.T, r *bridge.Rig, session string) (record sessions.Record) {
	t.Helper()
	await(t, "record of session "+session, func() (bool, error) {
		got, known := who(t, r).Session(sessionID(t, session))
		if !known || len(got.Records) == 0 {
			return false, nil
		}
		record = got.Records[0]
		return true, nil
	})
	return record
}
