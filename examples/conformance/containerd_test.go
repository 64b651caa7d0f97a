package conformance_test

import (
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

func TestContainerd(t *testing.T) {
	endpoint := serveContainerd(t)
	report := run(t, suite.Options{Endpoint: endpoint})
	said := text(t, report)
	t.Log("\n" + said)
}
var _ = strings.Contains
