package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// TestDebian is the suite against Debian's containerd 1.6, which is older than both KEPs, with what is known of it.
func TestDebian(t *testing.T) {
	endpoint := serveDebian(t)
	report := run(t, suite.Options{Endpoint: endpoint})
	said := text(t, report)
	t.Run("CON-9 containerd 1.6: environment and groups are unsupported", func(t *testing.T) {
		for _, r := range slices.Concat(of(report, "envs/"), of(report, "envs-bytes/"), of(report, "groups/")) {
			// It has no status.user that could be true.
			if r.Outcome != suite.OutcomeUnsupported && (r.Case != "groups/status-user-true" || r.Outcome != suite.OutcomeSkip) {
				t.Errorf("%s: %s, want unsupported", r.Case, r.Outcome)
			}
		}
		for _, want := range []string{"runtime    containerd 1.6.", "envs       not reported, not shown", "groups     not reported, not shown"} {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in the report\n%s", want, said)
			}
		}
	})
	t.Run("CON-9 containerd 1.6 refuses some groups out of range and takes 4294967296 for root's, which fails", func(t *testing.T) {
		if got := failures(report); !slices.Equal(got, []string{"ids/wraps-to-root"}) || report.Count(suite.OutcomePass) != 2 {
			t.Errorf("failed are %q, %s\n%s", got, report.Summary(), said)
		}
	})
	t.Run("CON-8 nothing stays", func(t *testing.T) { checkGone(t, endpoint) })
}
