package sessions_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestReadAudits(t *testing.T) {
	t.Run("BRG-1 the events with the webhook's annotation are found", func(t *testing.T) {
		log, err := os.Open("testdata/audit.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		got, faults := collect(sessions.ReadAudits(log, "audit.jsonl"))
		other := id
		other[9] = 2
		want := []sessions.Audit{
			{
				Session: id, AuditID: "a-1", Stage: "ResponseStarted", Time: time.Date(2026, 11, 22, 10, 0, 0, 100000000, time.UTC),
				User: token.User{
					Name: "alice", UID: "u-1", Groups: []string{"dev", "system:authenticated"},
					Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {"X509SHA256=00"}},
				},
				Namespace: "shop", Pod: "cart-0", Node: "n1", Outcome: bridge.OutcomeMarked,
			},
			{
				Session: other, AuditID: "a-3", Stage: "ResponseStarted", Time: time.Date(2026, 11, 22, 10, 0, 2, 0, time.UTC),
				User: token.User{Name: "bob", Groups: []string{"ops"}}, By: "admin", Namespace: "shop", Pod: "cart-1", Outcome: bridge.OutcomeUnmarked,
			},
		}
		if faults != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("ReadAudits(…) = %+v, %v, want %+v", got, faults, want)
		}
	})
	t.Run("BRG-1 a line that cannot be used is told by its number, and reading goes on", func(t *testing.T) {
		text := event("a-1") + "\n{\"exec.lanyard.dev/session\"\nhunter2\n" + strings.Repeat("x", sessions.MaxAuditBytes+1) + "\n" + event("a-2")
		got, faults := collect(sessions.ReadAudits(strings.NewReader(text), "log"))
		want := "[log:2: not an audit event: is not a JSON object log:4: line too long: over 16777216 bytes]"
		if len(got) != 2 || got[1].AuditID != "a-2" || fmt.Sprint(faults) != want {
			t.Fatalf("%d events, %v", len(got), faults)
		}
	})
	t.Run("BRG-1 reading can stop anywhere", func(t *testing.T) {
		text := event("a-1") + "\n{\"exec.lanyard.dev/session\"\n" + event("a-2")
		for stop := range 3 {
			n := 0
			for range sessions.ReadAudits(strings.NewReader(text), "log") {
				if n++; n > stop {
					break
				}
			}
		}
	})
}

// event returns an audit event with the annotation.
func event(auditID string) string {
	return `{"auditID":"` + auditID + `","stage":"ResponseStarted","user":{"username":"alice","uid":"u-1"},"objectRef":{"namespace":"shop","name":"cart-0"},` +
		`"requestReceivedTimestamp":"2026-11-22T10:00:00Z","annotations":{"exec.lanyard.dev/session":"5ff1c7b9-0000-4000-8001-000000000000"}}`
}

func TestDecodeAudits(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(event("a-1"), old, new, 1) }
	const sessionKey = "exec.lanyard.dev/session"
	for _, c := range []struct {
		name, text string
		events     int
		says       string
	}{
		{name: "BRG-1 an event", text: event("a-1"), events: 1},
		{name: "BRG-1 a list of events", text: `{"kind":"EventList","items":[` + event("a-1") + `,{"auditID":"b"},` + event("a-2") + `]}`, events: 2},
		{name: "BRG-1 an empty list", text: `{"kind":"EventList","items":[]}`},
		{name: "BRG-1 a list that is null", text: `{"kind":"` + sessionKey + `","items":null}`},
		{name: "BRG-1 what does not name the annotation is not looked at", text: `{`},
		{name: "BRG-1 an event that has the annotation's key elsewhere", text: `{"auditID":"a","requestURI":"` + sessionKey + `"}`},
		{name: "BRG-1 the annotation of another webhook", text: change(sessionKey, "verify."+sessionKey)},
		{name: "BRG-1 no auditID", text: change(`"auditID"`, `"x"`), says: "not an audit event: auditID is missing"},
		{name: "BRG-1 no time", text: change("requestReceivedTimestamp", "x"), says: "not an audit event: requestReceivedTimestamp is missing"},
		{name: "BRG-1 no user", text: change(`"user"`, `"x"`), says: "not an audit event: user is missing or of another type"},
		{name: "BRG-1 a user without a name", text: change(`"alice"`, `""`), says: "not an audit event: user is missing or of another type"},
		{name: "BRG-1 somebody impersonated without a name", text: change(`"objectRef"`, `"impersonatedUser":{},"objectRef"`), says: "not an audit event: impersonatedUser has no name"},
		{name: "BRG-1 nobody impersonated", text: change(`"objectRef"`, `"impersonatedUser":null,"objectRef"`), events: 1},
		{name: "BRG-1 impersonation of another type", text: change(`"objectRef"`, `"impersonatedUser":1,"objectRef"`), says: "not an audit event: impersonatedUser is of another type"},
		{name: "BRG-1 two users", text: change(`"username":"alice"`, `"username":"alice","username":"bob"`), says: "not an audit event: user is missing or of another type"},
		{name: "BRG-1 two annotations of one key", text: change(`"annotations":{`, `"annotations":{"`+sessionKey+`":"x",`), says: "not an audit event: annotations has a duplicate key"},
		{name: "BRG-1 a value that is not a session ID", text: change("5ff1c7b9", "hunter2!"), says: "not an audit event: exec.lanyard.dev/session is not a session ID"},
		{name: "BRG-1 a session of zeros", text: change("5ff1c7b9-0000-4000-8001", "00000000-0000-0000-0000"), says: "not an audit event: exec.lanyard.dev/session is not a session ID"},
		{name: "BRG-1 a value that is not a text", text: change(`"5ff1c7b9-0000-4000-8001-000000000000"`, `7`), says: "not an audit event: exec.lanyard.dev/session is not a text"},
		{name: "BRG-1 a node that is not a text", text: change(`"annotations":{`, `"annotations":{"exec.lanyard.dev/node":7,`), says: "not an audit event: exec.lanyard.dev/node is not a text"},
		{name: "BRG-1 an outcome that is not a text", text: change(`"annotations":{`, `"annotations":{"exec.lanyard.dev/outcome":7,`), says: "not an audit event: exec.lanyard.dev/outcome is not a text"},
		{name: "BRG-1 an object of another type", text: change(`"namespace":"shop"`, `"namespace":1`), says: "not an audit event: objectRef is of another type"},
		{name: "BRG-1 items that are not a list", text: `{"items":{"x":"` + sessionKey + `"}}`, says: "not an audit event: items is not a list"},
		{
			name: "BRG-1 an event in a list that cannot be used leaves the others", text: `{"items":["` + sessionKey + `",` + event("a-1") + `,` + change(`"auditID"`, `"x"`) + `]}`,
			events: 1, says: "not an audit event: items is not a JSON object",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sessions.DecodeAudits([]byte(c.text))
			if len(got) != c.events || (err == nil) != (c.says == "") {
				t.Fatalf("DecodeAudits(…) = %+v, %v, want %d events, %s", got, err, c.events, c.says)
			}
			if err != nil && (!errors.Is(err, sessions.ErrAudit) || err.Error() != c.says) {
				t.Fatalf("DecodeAudits(…) = %v, want %s", err, c.says)
			}
		})
	}
}
