package bridge_test

import (
	"slices"
	"strings"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// TestOtherWebhooks has another mutating webhook change commands before and after ours: marked or refused, never
// unmarked in silence, and never with a token in the arguments.
func TestOtherWebhooks(t *testing.T) {
	r := rigOf(t)
	// As the Security Profiles Operator does, with an env program that this image has.
	prefix := []string{"/reporter", "env", "OTHER=1"}
	for _, c := range []struct {
		name          string
		change        func([]string) []string
		before, after string
	}{
		{"prefixes commands once", func(command []string) []string {
			if slices.Contains(command, "OTHER=1") {
				return command
			}
			return slices.Concat(prefix, command)
		}, "marked", "marked or refused"},
		{"prefixes commands each time", func(command []string) []string { return slices.Concat(prefix, command) }, "marked or refused", "marked or refused"},
		{"appends to commands once", func(command []string) []string {
			if slices.Contains(command, "more") {
				return command
			}
			return append(command, "more")
		}, "marked", "marked or refused"},
		{"takes tokens away", func(command []string) []string {
			return slices.DeleteFunc(command, token.Like)
		}, "marked", "unmarked and told"},
	} {
		for name, want := range map[string]string{"aaa-before": c.before, "zzzz-after": c.after} {
			_, order, _ := strings.Cut(name, "-")
			t.Run("BRG-6 another webhook, "+order+" ours, "+c.name+": "+want, func(t *testing.T) {
				serveOther(t, r.Cluster, name, c.change)
				user := person(t, r, "by-"+strings.ReplaceAll(order+"-"+c.name, " ", "-"))
				got, err := execute(t, user, shared.pod, "/reporter", "hold")
				if err != nil {
					t.Log(err)
					if !strings.HasSuffix(want, "refused") || !strings.Contains(err.Error(), "denied the request") {
						t.Errorf("refused, want %s", want)
					}
					return
				}
				if got.Code != 0 || strings.Contains(got.Stdout, token.Prefix) {
					t.Fatalf("exec = %+v", got)
				}
				events, err := r.EventsBy(t.Context(), user.Name, "exec")
				if err != nil {
					t.Fatal(err)
				}
				if got := outcomeOf(t, parsed(t, got.Stdout), events[len(events)-1]); !strings.HasPrefix(want, got) {
					t.Errorf("%s, want %s", got, want)
				}
			})
		}
	}
}

// outcomeOf says what became of a session, or fails the test where it is unmarked in silence.
func outcomeOf(t *testing.T, said report.Report, event auditv1.Event) string {
	t.Helper()
	if _, has := said.Get(brg.SessionName); has {
		marked(t, said)
		return "marked"
	}
	// Where the first webhook had signed a token, it is the validating one that knows better.
	for _, key := range []string{"verify." + brg.AuditOutcome, brg.AuditOutcome} {
		if strings.HasPrefix(event.Annotations[key], string(brg.OutcomeUnmarked)) {
			return "unmarked and told"
		}
	}
	t.Errorf("it is unmarked, and the audit event says %v", event.Annotations)
	return "unmarked"
}
