package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// audited returns the stages of the audit event with that ID, in the order of the log.
func audited(t *testing.T, c *cluster, id string) []auditv1.Event {
	t.Helper()
	log, err := os.ReadFile(c.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	var out []auditv1.Event
	for line := range bytes.Lines(log) {
		var e auditv1.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("a line of the audit log is no event: %v", err)
		}
		if string(e.AuditID) == id {
			out = append(out, e)
		}
	}
	return out
}
