package suite

// Outcome is the result of a case in one word.
type Outcome string

// The five outcomes.
const (
	// OutcomePass means that the promise is kept.
	OutcomePass Outcome = "pass"
	// OutcomeFail means that the promise is broken, and the runtime reports the feature, is required to have it, or
	// shows it in another case.
	OutcomeFail Outcome = "fail"
	// OutcomeSkip means that the case did not run, because it was not selected or does not apply here; the reason is
	// given.
	OutcomeSkip Outcome = "skip"
	// OutcomeUnsupported means that the runtime neither reports nor shows the feature, and nobody required it.
	OutcomeUnsupported Outcome = "unsupported"
	// OutcomeError means that the suite could not find out.
	OutcomeError Outcome = "error"
)

// Feature is what a runtime supports as a whole or not at all: its cases are unsupported together.
type Feature string

// The features.
const (
	// FeatureEnvs is ExecRequest.envs (KEP-6035). A runtime reports it in a condition or a feature field, see
	// execaudit/negotiate.
	FeatureEnvs Feature = "envs"
	// FeatureEnvsBytes is values in ExecRequest.envs that are not UTF-8: CRI's KeyValue.value is bytes, but the JSON
	// of a process spec cannot carry them. No runtime can report it. A session that is refused shows nothing of it;
	// a value that arrives changed, or is missing beside another, does.
	FeatureEnvsBytes Feature = "envs-bytes"
	// FeatureGroups is SupplementalGroupsPolicy and ContainerStatus.user (KEP-3619), reported in
	// StatusResponse.features.
	FeatureGroups Feature = "groups"
	// FeatureIDs is the refusal of supplemental group IDs outside 0 to 2147483647, which the Kubernetes API refuses
	// too. No runtime can report it, and well-known ones turn such a number into another group.
	FeatureIDs Feature = "ids"
)

// Features returns all features, in the order of their cases.
func Features() []Feature { return []Feature{FeatureEnvs, FeatureEnvsBytes, FeatureGroups, FeatureIDs} }

// FeatureState is what is known of a feature after a run.
type FeatureState struct {
	Feature  Feature `json:"feature"`
	Reported bool    `json:"reported"` // the runtime reports it
	Required bool    `json:"required"` // Options.Require names it
	Shown    bool    `json:"shown"`    // at least one case observed a part of it
}

// expected reports whether a case of the feature can fail. A feature that is neither reported nor required but shown in
// one case is implemented in part, which is worse than not at all.
func (f FeatureState) expected() bool { return f.Reported || f.Required || f.Shown }

// observation is what one case found out. The zero value is a promise kept.
type observation struct {
	Problems []Problem // how the promise is broken
	Shown    bool      // something of the feature was seen, even if wrong
	Skipped  string    // why there was nothing to find out
	Err      error     // why it could not be found out
}

// decide returns the outcome of a case with the observation, when its feature is in this state. The state's Shown must
// already cover all cases. Trouble of the suite's own comes first, then a reason to skip; without the feature, a kept
// promise means nothing and counts as [OutcomeUnsupported], like a broken one.
func (f FeatureState) decide(o observation) Outcome {
	switch {
	case o.Err != nil:
		return OutcomeError
	case o.Skipped != "" && len(o.Problems) == 0:
		return OutcomeSkip
	case !f.expected():
		return OutcomeUnsupported
	case len(o.Problems) > 0:
		return OutcomeFail
	}
	return OutcomePass
}
