package suite

import (
	"time"
)

// Report is the result of a run.
type Report struct {
	Endpoint string         `json:"endpoint"`
	Runtime  string         `json:"runtime"`  // name and version as the runtime reports them; empty if it could not be asked
	API      string         `json:"api"`      // of CRI, such as "v1"
	Streams  Streams        `json:"streams"`  // what the streaming server speaks
	Features []FeatureState `json:"features"` // in the order of the function Features; nil if no case was tried
	Results  []Result       `json:"results"`  // in the order of Cases; nil if no case was tried
	// Error is the text of Run's error: why the run did not start, or what went wrong beside its cases, such as
	// leftovers that could not be removed. It is empty for a complete run.
	Error string `json:"error,omitempty"`
}

// Streams are the protocols over which exec sessions were opened.
type Streams struct {
	Spoken  []string  `json:"spoken"`            // such as "SPDY"; the cases ran over all of them, with and without a terminal
	Refused []Refused `json:"refused,omitempty"` // what was tried in vain
}

// Refused is a protocol over which no session could be opened.
type Refused struct {
	Protocol string `json:"protocol"`
	Why      string `json:"why"`
}

// Result is the result of one case.
type Result struct {
	Case        string        `json:"case"`
	Requirement string        `json:"requirement"`
	Outcome     Outcome       `json:"outcome"`
	Problems    []Problem     `json:"problems,omitempty"` // also when the outcome is not OutcomeFail, as far as any were seen
	Reason      string        `json:"reason,omitempty"`   // of OutcomeSkip, OutcomeUnsupported and OutcomeError
	Source      string        `json:"source"`
	Sentence    string        `json:"sentence,omitempty"`
	Fix         string        `json:"fix"`
	Took        time.Duration `json:"tookNanoseconds"`
}

// about is a report without results.
func (n *node) about() Report {
	r := Report{Endpoint: n.options.Endpoint, Streams: Streams{Spoken: n.streams(), Refused: n.refused}}
	if v := n.version; v != nil {
		r.Runtime, r.API = v.GetRuntimeName()+" "+v.GetRuntimeVersion(), v.GetRuntimeApiVersion()
	}
	return r
}

// with adds the results.
func (r Report) with(cases []Case, observations []observed, states []FeatureState) Report {
	r.Features = states
	for i, c := range cases {
		r.Results = append(r.Results, result(c, observations[i], r.state(c.Feature)))
	}
	return r
}

func result(c Case, o observed, state FeatureState) Result {
	r := Result{
		Case: c.Name, Requirement: c.Requirement, Outcome: state.decide(o.observation), Problems: o.Problems,
		Source: c.Source, Sentence: c.Sentence, Fix: c.Fix, Took: o.took,
	}
	switch r.Outcome {
	case OutcomeError:
		r.Reason = o.Err.Error()
	case OutcomeSkip:
		r.Reason = o.Skipped
	case OutcomeUnsupported:
		r.Reason = "the runtime neither reports nor shows " + string(c.Feature)
	}
	return r
}

func (r Report) state(f Feature) FeatureState {
	for _, s := range r.Features {
		if s.Feature == f {
			return s
		}
	}
	return FeatureState{Feature: f}
}

// Count returns how many cases have the outcome.
func (r Report) Count(o Outcome) (n int) {
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// The exit codes of a tool that runs the suite.
const (
	ExitPassed  = 0 // no promise that the runtime should keep is broken
	ExitFailed  = 1 // a case failed
	ExitTrouble = 2 // none failed, but something could not be found out
)

// trouble returns what was wrong with the run itself; empty when nothing was.
func (r Report) trouble() string {
	if r.Error == "" && len(r.Results) == 0 {
		return ErrNothingTried.Error()
	}
	return r.Error
}

// tried returns [ErrNothingTried] when every case was skipped.
func (r Report) tried() error {
	if r.Count(OutcomeSkip) == len(r.Results) {
		return ErrNothingTried
	}
	return nil
}

// ExitCode returns the code for the report: [ExitFailed], else [ExitTrouble] if there are errors, the run's own among
// them, or no results, else [ExitPassed].
func (r Report) ExitCode() int {
	switch {
	case r.Count(OutcomeFail) > 0:
		return ExitFailed
	case r.Count(OutcomeError) > 0 || r.trouble() != "":
		return ExitTrouble
	}
	return ExitPassed
}
