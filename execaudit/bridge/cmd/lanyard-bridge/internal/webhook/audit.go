package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// maxAuditBytes bounds a batch of audit events.
const maxAuditBytes = 64 << 20 // 64 MiB

// wireEvents is a batch of the API server's audit webhook.
type wireEvents struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Items      []wireEvent `json:"items"`
}

// wireEvent is what is kept of an audit event. Objects and the URI are not: at level Request the token is among them.
type wireEvent struct {
	APIVersion               string            `json:"apiVersion,omitempty"`
	Kind                     string            `json:"kind,omitempty"`
	Level                    json.RawMessage   `json:"level,omitempty"`
	AuditID                  json.RawMessage   `json:"auditID,omitempty"`
	Stage                    json.RawMessage   `json:"stage,omitempty"`
	Verb                     json.RawMessage   `json:"verb,omitempty"`
	User                     json.RawMessage   `json:"user,omitempty"`
	ImpersonatedUser         json.RawMessage   `json:"impersonatedUser,omitempty"`
	SourceIPs                json.RawMessage   `json:"sourceIPs,omitempty"`
	UserAgent                json.RawMessage   `json:"userAgent,omitempty"`
	ObjectRef                json.RawMessage   `json:"objectRef,omitempty"`
	ResponseStatus           json.RawMessage   `json:"responseStatus,omitempty"`
	RequestReceivedTimestamp json.RawMessage   `json:"requestReceivedTimestamp,omitempty"`
	StageTimestamp           json.RawMessage   `json:"stageTimestamp,omitempty"`
	Annotations              map[string]string `json:"annotations,omitempty"`
}

// auditVersion is that of the API server's audit webhook.
const auditVersion = "audit.k8s.io/v1"

// auditHandler writes down the events that have a session, which raises the session's record to corroborated. The API
// server sends a batch again that is answered with status 500.
func auditHandler(to *lineFile, written func(events int)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var batch wireEvents
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAuditBytes))
		if errors.As(err, new(*http.MaxBytesError)) {
			http.Error(w, "the batch is larger than 64 MiB", http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil || json.Unmarshal(body, &batch) != nil || batch.APIVersion != auditVersion || batch.Kind != "EventList" {
			http.Error(w, "not an EventList of "+auditVersion, http.StatusBadRequest)
			return
		}
		var lines []byte
		events := 0
		for _, event := range batch.Items {
			if event.Annotations[bridge.AuditSession] == "" {
				continue
			}
			lines = append(append(lines, event.line()...), '\n')
			events++
		}
		if events > 0 {
			if err := to.append(lines); err != nil {
				http.Error(w, "the events cannot be written", http.StatusInternalServerError)
				return
			}
			written(events)
		}
		w.WriteHeader(http.StatusOK)
	})
}

// line returns the event with the bridge's annotations alone.
func (e wireEvent) line() []byte {
	e.APIVersion, e.Kind = auditVersion, "Event"
	own := map[string]string{}
	for key, value := range e.Annotations {
		if strings.HasPrefix(key, bridge.Webhook+"/") || strings.HasPrefix(key, "verify."+bridge.Webhook+"/") {
			own[key] = value
		}
	}
	e.Annotations = own
	line, _ := json.Marshal(e) // of texts, and of JSON that was read
	return line
}
