package suite

// Observation and the decisions over it, for the tests outside the package.
type Observation = observation

func (f FeatureState) Decide(o Observation) Outcome { return f.decide(o) }

func (f FeatureState) Expected() bool { return f.expected() }

// Tried is the check of Run that a case was tried. No runtime of the tests makes a case the only one that is skipped.
func (r Report) Tried() error { return r.tried() }

// Outcomes are all of them.
func Outcomes() []Outcome {
	return []Outcome{OutcomePass, OutcomeFail, OutcomeSkip, OutcomeUnsupported, OutcomeError}
}
