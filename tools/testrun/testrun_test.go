package testrun

import (
	"strings"
	"testing"
)

func TestReader(t *testing.T) {
	var said strings.Builder
	r := newReader(&said)
	err := r.readAll(strings.NewReader(`not an event
{"Action":"output","Package":"p","Test":"TestA","Output":"noise of a good test\n"}
{"Action":"pass","Package":"p","Test":"TestA/ENV-1_x"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":2.5}
{"Action":"output","Package":"p","Test":"TestB","Output":"why B failed\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"needs root\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p","Elapsed":1.5}
{"Action":"build-output","ImportPath":"q","Output":"q.go:1: broken\n"}
{"Action":"build-fail","ImportPath":"q"}
{"Action":"fail","Package":"q"}
{"Action":"skip","Package":"no tests here"}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Passed: 2, Failed: 2, Skipped: 1}
	if got := Count(r.outcomes, false); got != want {
		t.Errorf("Count = %v, want %v", got, want)
	}
	if got := Count(r.outcomes, true); got != (Counts{Passed: 2, Failed: 3}) {
		t.Errorf("Count of a strict run = %v, want the skip among the failures", got)
	}
	if got := r.outcomes[1]; got != (Outcome{"p", "TestA", Passed, 2.5}) {
		t.Errorf("the outcome of TestA is %v, want 2.5 seconds", got)
	}
	for _, text := range []string{"not an event", "why B failed", "needs root", "q.go:1: broken"} {
		if !strings.Contains(said.String(), text) {
			t.Errorf("the run did not print %q:\n%s", text, said.String())
		}
	}
	if strings.Contains(said.String(), "noise") {
		t.Errorf("the run printed the output of a test that passed:\n%s", said.String())
	}
}

func TestClosingLine(t *testing.T) {
	if got := (Counts{3, 1, 2}).String(); got != "3 passed, 1 failed, 2 skipped" {
		t.Errorf("String() = %q", got)
	}
}
