// Package testrun runs `go test` over the modules of the repository, counts what
// ran, and keeps the outcome of each test for the trace.
package testrun

import "fmt"

// Result is what became of a test or subtest.
type Result string

// The results that the go command reports.
const (
	Passed  Result = "pass"
	Failed  Result = "fail"
	Skipped Result = "skip"
)

// Outcome is the end of one test, subtest, example or fuzz target with its seeds.
// A package that does not build or fails outside a test has an empty Test.
type Outcome struct {
	Package string
	Test    string
	Result  Result
}

// Counts adds up outcomes.
type Counts struct {
	Passed, Failed, Skipped int
}

// Count adds up outcomes. With strict set a skip counts as a failure: where all
// parts are meant to be present, a test that did not run proves nothing.
func Count(outcomes []Outcome, strict bool) Counts {
	var c Counts
	for _, o := range outcomes {
		switch {
		case o.Result == Passed:
			c.Passed++
		case o.Result == Skipped && !strict:
			c.Skipped++
		default:
			c.Failed++
		}
	}
	return c
}

// String is the closing line of a run.
func (c Counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}
