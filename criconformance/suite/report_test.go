package suite_test

import (
	"encoding/json"
	"encoding/xml"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

func sample() suite.Report {
	return suite.Report{
		Endpoint: "unix:///run/r.sock", Runtime: "r 1.0", API: "v1",
		Streams:  suite.Streams{Spoken: []string{"SPDY"}, Refused: []suite.Refused{{Protocol: "WebSocket v5", Why: "403\nForbidden"}}},
		Features: []suite.FeatureState{{Feature: suite.FeatureEnvs, Reported: true, Shown: true}},
		Results: []suite.Result{
			{Case: "envs/injected", Requirement: "CON-1", Outcome: suite.OutcomePass, Took: time.Second},
			{
				Case: "envs/literal-dollar", Requirement: "CON-1", Outcome: suite.OutcomeFail, Source: "KEP-6035", Sentence: "literally", Fix: "do not",
				Problems: []suite.Problem{{Where: "SPDY", Sent: "BAZ=$FOO", Seen: "BAZ=\x00bar"}},
			},
			{Case: "envs/every-protocol", Requirement: "CON-2", Outcome: suite.OutcomeSkip, Reason: "SPDY only"},
			{Case: "groups/merge", Requirement: "CON-3", Outcome: suite.OutcomeUnsupported, Reason: "not there"},
			{Case: "groups/strict", Requirement: "CON-3", Outcome: suite.OutcomeError, Reason: "no answer"},
		},
	}
}

func TestReports(t *testing.T) {
	t.Run("CON-8 text", func(t *testing.T) {
		var b strings.Builder
		if err := sample().WriteText(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"r 1.0", "not WebSocket v5: 403 Forbidden", "envs       reported, shown", "fail ", "sent   BAZ=$FOO", `rule   KEP-6035: "literally"`, "SPDY only", "no answer",
			"1 passed, 1 failed, 1 skipped, 1 unsupported, 1 errors",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	})
	t.Run("CON-8 what a runtime says does not drive the terminal", func(t *testing.T) {
		r := sample()
		r.Runtime, r.Results[4].Reason, r.Results[1].Problems[0].Seen = "\x1b[31mr", "a\x1b]0;b\x07c", "\x1b[2J"
		var b strings.Builder
		if err := r.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\x07") {
			t.Errorf("%q", b.String())
		}
	})
	t.Run("CON-8 JSON round trip", func(t *testing.T) {
		var b strings.Builder
		if err := sample().WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		var got suite.Report
		if err := json.Unmarshal([]byte(b.String()), &got); err != nil || !reflect.DeepEqual(got, sample()) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("CON-8 JUnit tells the outcomes apart as far as it can", func(t *testing.T) {
		var b strings.Builder
		if err := sample().WriteJUnit(&b); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
		}
		if err := xml.Unmarshal([]byte(b.String()), &got); err != nil || got.Tests != 5 || got.Failures != 1 || got.Errors != 1 || got.Skipped != 2 {
			t.Errorf("got %+v, %v\n%s", got, err, b.String())
		}
		if !strings.Contains(b.String(), `message="unsupported: not there"`) {
			t.Errorf("unsupported is not told\n%s", b.String())
		}
	})
}

func TestExitCode(t *testing.T) {
	t.Run("CON-8 a failure is 1, else trouble is 2, else 0", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var r suite.Report
			for _, o := range rapid.SliceOf(rapid.SampledFrom(suite.Outcomes())).Draw(t, "outcomes") {
				r.Results = append(r.Results, suite.Result{Outcome: o})
			}
			want := suite.ExitPassed
			if r.Count(suite.OutcomeError) > 0 || len(r.Results) == 0 {
				want = suite.ExitTrouble
			}
			if r.Count(suite.OutcomeFail) > 0 {
				want = suite.ExitFailed
			}
			if got := r.ExitCode(); got != want {
				t.Fatalf("%s: ExitCode = %d, want %d", r.Summary(), got, want)
			}
		})
	})
}

// FuzzJUnit: whatever a runtime says, the file is XML.
func FuzzJUnit(f *testing.F) {
	f.Add("r 1.0", "plain")
	f.Add("\x00\xff", "]]><&\x1b[31m￾")
	f.Fuzz(func(t *testing.T, runtime, seen string) {
		r := suite.Report{Runtime: runtime, Results: []suite.Result{{Outcome: suite.OutcomeFail, Problems: []suite.Problem{{Seen: seen}}}}}
		var b strings.Builder
		if err := r.WriteJUnit(&b); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
			t.Fatalf("%v\n%q", err, b.String())
		}
	})
}
