package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// AuditLog is the path of the API server's audit log.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, "audit.log") }

// Audit returns the events of the audit log that match, in its order; nil matches all.
func (c *Cluster) Audit(match func(*auditv1.Event) bool) ([]auditv1.Event, error) {
	text, err := os.ReadFile(c.AuditLog())
	if err != nil {
		return nil, err
	}
	var out []auditv1.Event
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if match == nil || match(&event) {
			out = append(out, event)
		}
	}
	return out, nil
}

// AwaitAudit waits for events that match and returns them. An event of a session's end is written after its client has
// the answer.
func (c *Cluster) AwaitAudit(ctx context.Context, match func(*auditv1.Event) bool) (found []auditv1.Event, err error) {
	err = Await(ctx, "audit events", func(context.Context) (bool, error) {
		found, err = c.Audit(match)
		return len(found) > 0, err
	})
	return found, err
}
