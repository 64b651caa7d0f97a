package suite_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

func TestDecide(t *testing.T) {
	bad := []suite.Problem{{Where: "SPDY", Sent: "A=1", Seen: "A=2"}}
	reported, required, shown := suite.FeatureState{Reported: true}, suite.FeatureState{Required: true}, suite.FeatureState{Shown: true}
	for _, tt := range []struct {
		name  string
		state suite.FeatureState
		o     suite.Observation
		want  suite.Outcome
	}{
		{"CON-4 reported and kept", reported, suite.Observation{}, suite.OutcomePass},
		{"CON-4 reported and broken", reported, suite.Observation{Problems: bad}, suite.OutcomeFail},
		{"CON-4 required and broken", required, suite.Observation{Problems: bad}, suite.OutcomeFail},
		{"CON-4 shown elsewhere and broken", shown, suite.Observation{Problems: bad}, suite.OutcomeFail},
		{"CON-4 neither and broken", suite.FeatureState{}, suite.Observation{Problems: bad}, suite.OutcomeUnsupported},
		{"CON-4 neither and kept means nothing", suite.FeatureState{}, suite.Observation{}, suite.OutcomeUnsupported},
		{"CON-4 trouble beats all", reported, suite.Observation{Problems: bad, Skipped: "x", Err: errors.New("x")}, suite.OutcomeError},
		{"CON-4 skipped", reported, suite.Observation{Skipped: "x"}, suite.OutcomeSkip},
		{"CON-4 a problem seen beats a reason to skip", reported, suite.Observation{Skipped: "x", Problems: bad}, suite.OutcomeFail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.state.Decide(tt.o); got != tt.want {
				t.Errorf("Decide = %q, want %q", got, tt.want)
			}
		})
	}
}

func drawObservation(t *rapid.T) suite.Observation {
	var o suite.Observation
	if rapid.Bool().Draw(t, "problem") {
		o.Problems = []suite.Problem{{Seen: "x"}}
	}
	if rapid.Bool().Draw(t, "trouble") {
		o.Err = errors.New("x")
	}
	o.Skipped = rapid.SampledFrom([]string{"", "reason"}).Draw(t, "skipped")
	return o
}

func TestDecideLaws(t *testing.T) {
	t.Run("CON-4 a case fails only when it is expected and something was seen broken", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			state := suite.FeatureState{Reported: rapid.Bool().Draw(t, "reported"), Required: rapid.Bool().Draw(t, "required"), Shown: rapid.Bool().Draw(t, "shown")}
			o := drawObservation(t)
			want := state.Expected() && len(o.Problems) > 0 && o.Err == nil
			if got := state.Decide(o) == suite.OutcomeFail; got != want && o.Skipped == "" {
				t.Fatalf("Decide(%v, %v) = %q", state, o, state.Decide(o))
			}
		})
	})
	t.Run("CON-4 requiring a feature never turns a failure into a pass", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			o := drawObservation(t)
			state := suite.FeatureState{Reported: rapid.Bool().Draw(t, "reported"), Shown: rapid.Bool().Draw(t, "shown")}
			before := state.Decide(o)
			state.Required = true
			if after := state.Decide(o); before == suite.OutcomeFail && after != suite.OutcomeFail || before == suite.OutcomePass && after != suite.OutcomePass {
				t.Fatalf("%q became %q", before, after)
			}
		})
	})
}
