// Package testrun runs `go test` over the modules of the repository, counts what
// ran, and keeps the outcome of each test for the trace.
package testrun

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
	Seconds float64 // that the test took, its subtests included
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

// Slowest returns the n slowest tests without subtests that took a second or more,
// the slowest first.
func Slowest(outcomes []Outcome, n int) []Outcome {
	parents := map[string]bool{}
	for _, o := range outcomes {
		if i := strings.LastIndex(o.Test, "/"); i >= 0 {
			parents[o.Package+" "+o.Test[:i]] = true
		}
	}
	leaves := slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool {
		return o.Seconds < 1 || parents[o.Package+" "+o.Test]
	})
	slices.SortStableFunc(leaves, func(a, b Outcome) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return leaves[:min(n, len(leaves))]
}
