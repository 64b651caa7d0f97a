package conformance_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance"
	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// TestReference is how a runtime's own tests embed the suite. Everything is required, also what no runtime can report.
func TestReference(t *testing.T) {
	criconformance.Run(t, suite.Options{
		Endpoint: serve(t, newConfig(t)), Reporter: reporter(t), Timeout: patience, Require: suite.Features(),
	})
}
