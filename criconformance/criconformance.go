package criconformance

import (
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/internal/printable"
	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// Options says what to try on whom; see [suite.Options].
type Options = suite.Options

// Run runs the suite and makes each case a subtest, when all have run: whether a case fails or is unsupported may depend
// on another. Failed cases fail with what was sent, what was seen and the rule; unsupported and skipped ones skip with the
// reason; errors of the suite's own fail. What it made is removed before it
// returns.
func Run(t *testing.T, options Options) {
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
	case suite.Fail:
		t.Errorf("%s is broken\n%s", result.Case, result.Explain(""))
	case suite.Error:
		t.Errorf("could not find out: %s", printable.Line(result.Reason))
	case suite.Skip, suite.Unsupported:
		t.Skipf("%s: %s", result.Outcome, printable.Line(result.Reason))
	}
}
