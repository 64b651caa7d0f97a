package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/testrun"
	"github.com/lanyard-dev/lanyard/tools/trace"
)

// errFailed is returned where the outcomes say more than an error can.
var errFailed = errors.New("not all tests passed")

// slowest is how many of the slowest tests a run names.
const slowest = 10

// test runs the tests of the given modules, or of all, and closes with a count.
func test(h *house.House, args []string) error {
	modules, err := selected(h, args)
	if err != nil {
		return err
	}
	started := time.Now()
	outcomes, err := testrun.Run(h, modules, testrun.Options{Print: os.Stdout})
	if err != nil {
		return err
	}
	strict := os.Getenv("CI") == "true"
	for _, o := range outcomes {
		if o.Result == testrun.Skipped && strict {
			fmt.Printf("skipped, which is a failure under CI=true: %s %s\n", o.Package, o.Test)
		}
	}
	for _, o := range testrun.Slowest(outcomes, slowest) {
		fmt.Printf("slow  %6.1fs  %s %s\n", o.Seconds, strings.TrimPrefix(o.Package, house.Prefix+"/"), o.Test)
	}
	fmt.Printf("took  %v\n", time.Since(started).Round(time.Second))
	counts := testrun.Count(outcomes, strict)
	fmt.Println(counts)
	if counts.Failed > 0 || counts.Passed == 0 {
		return errFailed
	}
	return nil
}

// requirementsFile is the project's own table of promises.
const requirementsFile = "docs/requirements.md"

// traceIDs prints which requirements have a test. It reads what the last run of
// each module left and runs those that changed since.
func traceIDs(h *house.House, args []string) error {
	if len(args) > 1 {
		return errUsage
	}
	document, err := os.ReadFile(filepath.Join(h.Root, requirementsFile))
	if err != nil {
		return err
	}
	requirements, err := trace.Requirements(string(document))
	if err != nil {
		return fmt.Errorf("%s: %w", requirementsFile, err)
	}
	if len(args) == 1 {
		requirements = trace.OfFamily(requirements, args[0])
		if len(requirements) == 0 {
			return fmt.Errorf("%w: no family %q in %s", errUsage, args[0], requirementsFile)
		}
	}
	passed, err := passedTests(h)
	if err != nil {
		return err
	}
	trace.Report(os.Stdout, requirements, trace.Named(passed))
	return nil
}

// passedTests returns the names of the tests that passed in today's tree.
func passedTests(h *house.House) ([]string, error) {
	var names []string
	var stale []house.Module
	add := func(outcomes []testrun.Outcome) {
		for _, o := range outcomes {
			if o.Result == testrun.Passed {
				names = append(names, o.Test)
			}
		}
	}
	for _, m := range h.Everyday() {
		outcomes, fresh, err := testrun.OpenRecords(h).Load(h, m)
		if err != nil {
			return nil, err
		}
		if fresh {
			add(outcomes)
		} else {
			stale = append(stale, m)
		}
	}
	if len(stale) == 0 {
		return names, nil
	}
	fmt.Fprintf(os.Stderr, "%s: running the tests of %d modules that changed since their last run\n", time.Now().Format(time.TimeOnly), len(stale))
	outcomes, err := testrun.Run(h, stale, testrun.Options{Print: os.Stderr})
	add(outcomes)
	return names, err
}
