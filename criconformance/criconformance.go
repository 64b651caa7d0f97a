package criconformance

import (
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/internal/printable"
	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// Run runs the suite, and then makes each case a subtest: whether a case fails or is unsupported may depend on others.
// A failed case fails with what was sent, what was seen and the rule; an unsupported or skipped one skips with the
// reason; one that could not be run fails, as does an error of [suite.Run]. What Run made in the runtime is removed
// before it returns.
func Run(t *testing.T, options suite.Options) {
	t.Helper()
	report, err := suite.Run(t.Context(), options)
	t.Logf("%s (CRI %s): %s", printable.Line(report.Runtime), printable.Line(report.API), report.Summary())
	for _, result := range report.Results {
		t.Run(result.Requirement+" "+result.Case, func(t *testing.T) { tell(t, result) })
	}
	if err != nil {
		t.Errorf("criconformance: %s", printable.Lines(err.Error()))
	}
}

// tell gives the subtest the result's outcome.
func tell(t *testing.T, result suite.Result) {
	switch result.Outcome {
	case suite.OutcomeFail:
		t.Errorf("%s is broken\n%s", result.Case, result.Explain(""))
	case suite.OutcomeError:
		t.Errorf("could not find out: %s", printable.Line(result.Reason))
	case suite.OutcomeSkip, suite.OutcomeUnsupported:
		t.Skipf("%s: %s", result.Outcome, printable.Line(result.Reason))
	}
}
