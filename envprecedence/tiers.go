package envprecedence

import (
	"fmt"
	"io"
	"log/slog"
)

// Tier is one of the sources of an exec session's environment. The zero value is not a tier.
// Source: KEP-6035, Environment Variable Precedence.
type Tier uint8

// The tiers, highest precedence first.
const (
	// TierRuntime is what the container runtime forces for its own needs. What it only defaults (TERM, HOME) belongs in
	// the container's baseline instead, so that a caller can override it.
	TierRuntime Tier = iota + 1
	// TierKubelet is what the kubelet adds; reserved for the future.
	TierKubelet
	// TierAPIServer is what the API server adds, such as KUBERNETES_EXEC_AUDIT_ID.
	TierAPIServer
	// TierCaller is what the user asked for, as with kubectl exec --env.
	TierCaller
	// TierContainer is the baseline: the image's and the pod's environment.
	TierContainer
	// TierRequest is what a runtime sees of the kubelet's, the API server's and the caller's: the entries of
	// ExecRequest.envs.
	TierRequest
)

// String returns the tier's name in lower case, as it stands in errors, such as "API server".
func (t Tier) String() string {
	switch t {
	case TierRuntime:
		return "runtime"
	case TierKubelet:
		return "kubelet"
	case TierAPIServer:
		return "API server"
	case TierCaller:
		return "caller"
	case TierContainer:
		return "container"
	case TierRequest:
		return "request"
	}
	return "unknown tier"
}

// Tiers are the environ strings, NAME=VALUE, of each tier. Nil and empty are the same. They show as numbers of entries
// by every verb of fmt, in JSON and in logs; the strings themselves show like any others.
type Tiers struct {
	Runtime   []string // highest precedence
	Kubelet   []string
	APIServer []string
	Caller    []string
	Container []string // lowest precedence
}

// ordered returns the tiers' entries, highest precedence first; index i belongs to Tier(i+1).
func (t Tiers) ordered() [5][]string {
	return [5][]string{t.Runtime, t.Kubelet, t.APIServer, t.Caller, t.Container}
}

// Format writes the number of entries of each tier, for every verb and flag.
func (t Tiers) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, t.text()) }

// MarshalText returns the number of entries of each tier.
func (t Tiers) MarshalText() ([]byte, error) { return []byte(t.text()), nil }

// LogValue returns the number of entries of each tier, for log/slog.
func (t Tiers) LogValue() slog.Value { return slog.StringValue(t.text()) }

func (t Tiers) text() string {
	return fmt.Sprintf("runtime %d, kubelet %d, API server %d, caller %d, container %d entries",
		len(t.Runtime), len(t.Kubelet), len(t.APIServer), len(t.Caller), len(t.Container))
}
