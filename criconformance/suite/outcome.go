package suite

// Outcome is what came of a case.
type Outcome string

// The five outcomes.
const (
	// Pass: the promise is kept.
	Pass Outcome = "pass"
	// Fail: the promise is broken, and the runtime reports the feature, or was required to have it, or shows it elsewhere.
	Fail Outcome = "fail"
	// Skip: the case did not run, because it was not selected or because it does not apply here; the reason is given.
	Skip Outcome = "skip"
	// Unsupported: the runtime neither reports the feature nor shows anything of it, and nobody required it.
	Unsupported Outcome = "unsupported"
	// Error: the suite could not find out.
	Error Outcome = "error"
)

// Outcomes returns the five, in the order above.
func Outcomes() []Outcome { return []Outcome{Pass, Fail, Skip, Unsupported, Error} }

// Feature is what a runtime has or has not, as one: its cases are unsupported together.
type Feature string

// The features.
const (
	// Envs is ExecRequest.envs (KEP-6035). A runtime reports it in a condition or a feature field, see
	// execaudit/negotiate.
	Envs Feature = "envs"
	// Groups is SupplementalGroupsPolicy and ContainerStatus.user (KEP-3619), reported in StatusResponse.features.
	Groups Feature = "groups"
	// IDs is the refusal of supplemental group IDs outside 0 to 2147483647, which the Kubernetes API refuses too. No
	// runtime can report it, and well-known ones wrap such a number around to another group.
	IDs Feature = "ids"
)

// Features returns all features, in the order of their cases.
func Features() []Feature { return []Feature{Envs, Groups, IDs} }

// FeatureState is what is known of a feature after a run.
type FeatureState struct {
	Feature  Feature `json:"feature"`
	Reported bool    `json:"reported"` // the runtime says that it has it
	Required bool    `json:"required"` // the user does
	Shown    bool    `json:"shown"`    // at least one case saw something of it
}

// Expected reports whether a case of the feature can fail. A feature that is neither reported nor required but shows in
// one case is half there, which is worse than none.
func (f FeatureState) Expected() bool { return f.Reported || f.Required || f.Shown }

// Observation is what one case found out. The zero value is a promise kept.
type Observation struct {
	Problems []Problem // how the promise is broken
	Shown    bool      // something of the feature was seen, even if wrong
	Skipped  string    // why there was nothing to find out
	Err      error     // why it could not be found out
}

// Decide returns the outcome of a case with the observation, when its feature is in this state. The state's Shown must
// already cover all cases. Trouble of the suite's own comes first, then a reason to skip; without the feature, a kept
// promise means nothing and counts as [Unsupported], like a broken one.
func (f FeatureState) Decide(o Observation) Outcome {
	switch {
	case o.Err != nil:
		return Error
	case o.Skipped != "" && len(o.Problems) == 0:
		return Skip
	case !f.Expected():
		return Unsupported
	case len(o.Problems) > 0:
		return Fail
	}
	return Pass
}
