package trace_test

import (
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/trace"
)

const document = "# Title ENV-9\n| ID | promise |\n|---|---|\n| ENV-1 | first |\n| ENV-12 **+** | as ENV-2 |\n| EXA-1 | other |\n"

func TestReport(t *testing.T) {
	requirements, err := trace.Requirements(document)
	if err != nil || len(requirements) != 3 {
		t.Fatalf("Requirements = %v, %v, want three", requirements, err)
	}
	var said strings.Builder
	named := trace.Named([]string{"TestMerge/ENV-12_EXA-1_both_in_one", "TestENV-1x", "TestMerge/ENV-123_another"})
	without := trace.Report(&said, requirements, named)
	want := "ENV: 1 of 2, without a test: 1\nEXA: 1 of 1\ntrace: 2 of 3 requirements have a test\n"
	if said.String() != want || without != 1 {
		t.Errorf("Report = %d,\n%swant 1,\n%s", without, said.String(), want)
	}
	if got := trace.OfFamily(requirements, "EXA"); len(got) != 1 || got[0].ID() != "EXA-1" {
		t.Errorf("OfFamily = %v, want EXA-1", got)
	}
}

func TestRequirementTwice(t *testing.T) {
	if _, err := trace.Requirements(document + "| ENV-1 | again |\n"); err == nil {
		t.Error("Requirements with an ID twice = nil error")
	}
}
