package demo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditOf returns the newest stage of the audit event with that ID.
func auditOf(log, id string) (*auditv1.Event, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var found *auditv1.Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if string(event.AuditID) == id {
			found = &event
		}
	}
	if found == nil {
		return nil, fmt.Errorf("the audit log has no event %s", id)
	}
	return found, lines.Err()
}
