package conformance_test

import (
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// TestContainerd is the suite against containerd 2.4.2, with what is known of it.
func TestContainerd(t *testing.T) {
	endpoint := serveContainerd(t)
	report := run(t, suite.Options{Endpoint: endpoint})
	said := text(t, report)
	t.Run("CON-7 groups pass", func(t *testing.T) {
		for _, r := range of(report, "groups/") {
			if r.Outcome != suite.OutcomePass {
				t.Errorf("%s: %s\n%s", r.Case, r.Outcome, r.Explain(""))
			}
		}
	})
	t.Run("CON-7 CON-9 CON-4 envs are unsupported, and the report says so", func(t *testing.T) {
		for _, r := range append(of(report, "envs/"), of(report, "envs-bytes/")...) {
			if r.Outcome != suite.OutcomeUnsupported {
				t.Errorf("%s: %s, want unsupported", r.Case, r.Outcome)
			}
		}
		if !strings.Contains(said, "envs       not reported, not shown") || !strings.Contains(said, "27 passed, 0 failed, 0 skipped, 35 unsupported, 0 errors") {
			t.Errorf("the report reads\n%s", said)
		}
	})
	t.Run("CON-7 supplemental groups above the range wrap around, and nobody required otherwise", func(t *testing.T) {
		if got := failures(report); len(got) > 0 || report.ExitCode() != suite.ExitPassed {
			t.Errorf("failed are %q, exit code %d", got, report.ExitCode())
		}
	})
	t.Run("CON-8 the report names the runtime and what it speaks", func(t *testing.T) {
		for _, want := range []string{"runtime    containerd 2.4.2", "streams    SPDY, WebSocket v4", "not WebSocket v5"} {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in the report\n%s", want, said)
			}
		}
	})
	t.Run("CON-4 what is required and not there fails", func(t *testing.T) {
		report := run(t, suite.Options{Endpoint: endpoint, Require: []suite.Feature{suite.FeatureEnvs}})
		if report.Count(suite.OutcomeUnsupported) > 4 || report.ExitCode() != suite.ExitFailed {
			t.Errorf("%s, exit code %d", report.Summary(), report.ExitCode())
		}
		if got := failures(report); !contains(got, "envs/injected", "envs/literal-dollar", "envs/terminal") {
			t.Errorf("failed are %q", got)
		}
	})
	t.Run("CON-8 nothing stays", func(t *testing.T) { checkGone(t, endpoint) })
}

// of are the results of the cases whose names begin so.
func of(r suite.Report, prefix string) (out []suite.Result) {
	for _, result := range r.Results {
		if strings.HasPrefix(result.Case, prefix) {
			out = append(out, result)
		}
	}
	return out
}
