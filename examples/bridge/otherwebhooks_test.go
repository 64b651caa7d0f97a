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
	prefix := func(command []string) []string {
		if slices.Equal(command[:1], []string{"/reporter"}) && len(command) > 1 && command[1] == "linger" {
			return command // it has been here
		}
		return append([]string{"/reporter", "linger", "0s"}, command[1:]...)
	}
	blindly := func(command []string) []string {
		return append([]string{"/reporter", "linger", "0s", "bare"}, command...)
	}
	// As the Security Profiles Operator would: behind whatever is there.
	last := func(command []string) []string {
		if slices.Contains(command, "more") {
			return command
		}
		return append(command, "more")
	}
	for _, c := range []struct {
		name   string
		change func([]string) []string
	}{
		{"prefixes a command that it knows", prefix},
		{"prefixes any command", blindly},
		{"appends to a command", last},
		{"takes the first element away", func(command []string) []string {
			if token.Like(command[0]) {
				return command[1:]
			}
			return command
		}},
	} {
		for _, order := range []string{"aaa-before", "zzzz-after"} {
			t.Run("BRG-6 another webhook, "+order[len(order)-6:]+" ours, "+c.name, func(t *testing.T) {
				serveOther(t, r.Cluster, order, c.change)
				user := person(t, r, "user-of-"+strings.ReplaceAll(order+"-"+c.name, " ", "-"))
				got, err := execute(t, user, shared.pod, "/reporter")
				if strings.Contains(got.Stdout, token.Prefix) {
					t.Errorf("it ran with a token: %q", got.Stdout)
				}
				if err != nil {
					t.Logf("refused: %v", err)
					return
				}
				if got.Code != 0 {
					t.Fatalf("exec = %+v", got)
				}
				said := parsed(t, got.Stdout)
				t.Logf("it ran as %q", said.Args)
				events, err := r.EventsBy(t.Context(), user.Name, "exec")
				if err != nil {
					t.Fatal(err)
				}
				sameAsTold(t, said, events)
			})
		}
	}
}

// sameAsTold fails the test where the process is not what the audit event says of it.
func sameAsTold(t *testing.T, said report.Report, events []auditv1.Event) {
	t.Helper()
	outcome := events[len(events)-1].Annotations[brg.AuditOutcome]
	switch _, has := said.Get(brg.SessionName); {
	case has:
		marked(t, said)
	case len(said.Env) == 0 && said.AuditSession != report.NoSession:
		// The other webhook had it empty its environment: the mark stays.
	case !strings.HasPrefix(outcome, string(brg.OutcomeUnmarked)):
		t.Errorf("it is unmarked, and the audit event says %q", outcome)
	}
}
