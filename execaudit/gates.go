package execaudit

import "errors"

// Names of the feature gates, as in --feature-gates. Both are off by default.
//
// Source: KEP-6035, Design Details.
const (
	// GateExecEnvVar gates the environment's way from PodExecOptions.Env to
	// ExecRequest.envs, at the API server and at the kubelet.
	GateExecEnvVar = "ExecEnvVar"
	// GateExecRequestID gates the injection of the audit ID at the API server.
	// It requires GateExecEnvVar.
	GateExecRequestID = "ExecRequestID"
)

// ErrRequestIDNeedsEnvVar is returned by Gates.Validate when ExecRequestID is on and
// ExecEnvVar is off.
var ErrRequestIDNeedsEnvVar = errors.New(
	"feature gate ExecRequestID requires feature gate ExecEnvVar: set ExecEnvVar=true or ExecRequestID=false")

// Gates is the state of the two feature gates in one component. The zero value
// is the default: both off.
type Gates struct {
	// ExecEnvVar is GateExecEnvVar.
	ExecEnvVar bool
	// ExecRequestID is GateExecRequestID. Alone it has no effect.
	ExecRequestID bool
}

// Validate returns ErrRequestIDNeedsEnvVar or nil. A component calls it once, at start.
func (g Gates) Validate() error {
	if g.ExecRequestID && !g.ExecEnvVar {
		return ErrRequestIDNeedsEnvVar
	}
	return nil
}

// InjectsAuditID reports whether the audit ID is to be injected: both gates on.
func (g Gates) InjectsAuditID() bool {
	return g.ExecEnvVar && g.ExecRequestID
}
