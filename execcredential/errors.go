package execcredential

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoStatus is the condition of an answer without a status.
	ErrNoStatus = errors.New("answer has no status")
	// ErrNoCredential is the condition of a status with neither a token nor a certificate and key.
	ErrNoCredential = errors.New("answer has neither a token nor a certificate and key")
	// ErrHalfPair is the condition of a status with a certificate and no key, or a key and no certificate.
	ErrHalfPair = errors.New("answer has a certificate or a key, not both")
	// ErrKeyPair is the condition of a certificate and key that are not PEM or do not belong together.
	ErrKeyPair = errors.New("answer's certificate and key are not a pair")
	// ErrToken is the condition of a token that cannot be a header value, such as one that ends in a line feed.
	ErrToken = errors.New("answer's token contains a control character")
	// ErrAuthProvider is the condition of a user entry with both an exec plugin and the removed auth-provider.
	ErrAuthProvider = errors.New("auth-provider cannot be combined with exec")
	// ErrNotPermitted is the condition of a command that the plugin policy does not let run.
	ErrNotPermitted = errors.New("not permitted by the plugin policy")

	errTimestamp = errors.New("field status.expirationTimestamp is not an RFC 3339 time")
)

// DecodeError says that data is not an ExecCredential. Reason repeats nothing of the data, which may hold a secret.
type DecodeError struct{ Reason string }

// Error returns the reason.
func (e *DecodeError) Error() string { return "decode ExecCredential: " + e.Reason }

// KindError says that an object is not an ExecCredential of this group.
type KindError struct {
	// Kind and Group are what the object says, cut at 80 bytes.
	Kind, Group string
}

// Error names the kind and group.
func (e *KindError) Error() string {
	return fmt.Sprintf("object is a %q of group %q, want %s of group %s", e.Kind, e.Group, Kind, Group)
}

// VersionError says that an object has another version than the configuration names, or an unknown one.
type VersionError struct {
	// Want is the configured version; empty when any known version would do.
	Want string
	// Got is the object's version, cut at 80 bytes.
	Got string
}

// Error names both versions.
func (e *VersionError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("apiVersion %q is not one of %s, %s and %s", e.Got, V1, V1Beta1, V1Alpha1)
	}
	return fmt.Sprintf("plugin is configured for apiVersion %s and answered with %q", e.Want, e.Got)
}

// FieldError says what is wrong with one field of an [ExecConfig] or [Policy].
type FieldError struct {
	// Field is the field's name in a kubeconfig: "command", "env[2].name".
	Field string
	// Rule is what the field has to be.
	Rule string
}

// Error names field and rule.
func (e *FieldError) Error() string { return e.Field + ": " + e.Rule }

// PolicyError says that the policy does not let a command run. It unwraps to [ErrNotPermitted].
type PolicyError struct {
	// Command is the command as configured.
	Command string
	// Path is the file it resolves to; empty when it was not resolved.
	Path string
	// Policy is the kind of policy that refused.
	Policy PolicyType
}

// Error names the command, its file and the policy.
func (e *PolicyError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "plugin %q", e.Command)
	if e.Path != "" && e.Path != e.Command {
		fmt.Fprintf(&text, " (%q)", e.Path)
	}
	fmt.Fprintf(&text, ": %v %s", ErrNotPermitted, spelled(string(e.Policy)))
	return text.String()
}

// Unwrap returns ErrNotPermitted.
func (e *PolicyError) Unwrap() error { return ErrNotPermitted }
