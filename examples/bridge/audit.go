package bridge

import (
	"context"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// EventOf waits for the audit event that has the session's ID as an annotation, and returns its newest stage.
func (r *Rig) EventOf(ctx context.Context, session string) (auditv1.Event, error) {
	events, err := r.AwaitAudit(ctx, func(e *auditv1.Event) bool { return e.Annotations[bridge.AuditSession] == session })
	if err != nil {
		return auditv1.Event{}, err
	}
	return events[len(events)-1], nil
}

// EventsBy waits for audit events of the user's requests for a pod's subresource, and returns them.
func (r *Rig) EventsBy(ctx context.Context, user, subresource string) ([]auditv1.Event, error) {
	return r.AwaitAudit(ctx, func(e *auditv1.Event) bool {
		return e.User.Username == user && e.ObjectRef != nil && e.ObjectRef.Resource == "pods" && e.ObjectRef.Subresource == subresource
	})
}
