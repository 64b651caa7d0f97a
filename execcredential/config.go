package execcredential

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/lanyard-dev/lanyard/redact"
)

// ExecConfig is the exec section of a kubeconfig's user: which program to run, and how (KEP-541, Provider
// configuration).
type ExecConfig struct {
	// Command is the program: a path, or a name to look up on PATH. Required.
	Command string `json:"command"`
	// Args are passed as they are: no shell, no expansion.
	Args []string `json:"args"`
	// Env are entries for the plugin's environment, over the client's own. Later entries win.
	Env []EnvVar `json:"env"`
	// APIVersion is the version that goes out and has to come back. Required.
	APIVersion string `json:"apiVersion,omitempty"`
	// InstallHint is shown when the program is missing.
	InstallHint string `json:"installHint,omitempty"`
	// ProvideClusterInfo adds spec.cluster, which may be large, to the plugin's environment.
	ProvideClusterInfo bool `json:"provideClusterInfo"`
	// InteractiveMode is the plugin's relation to standard input. Required in V1, IfAvailable by default before.
	InteractiveMode InteractiveMode `json:"interactiveMode,omitempty"`

	// The fields below are the client's, not the kubeconfig's exec section's: they are never encoded.

	// Policy says whether Command may run at all, beside the policy of the pool: both have to permit it. The zero value
	// permits it.
	Policy Policy `json:"-"`
	// StdinUnavailable keeps standard input from this plugin, as for a program that reads it itself.
	StdinUnavailable bool `json:"-"`
	// StdinUnavailableMessage says why, for the error of a plugin that needs standard input. Optional.
	StdinUnavailableMessage string `json:"-"`
	// Impersonate is whom the requests with the plugin's credential act as. The plugin is not told.
	Impersonate Impersonation `json:"-"`
}

// EnvVar is one entry of a plugin's environment. Formatting it shows the name and hides the value.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String returns NAME=[redacted], with control characters of the name spelled out.
func (v EnvVar) String() string { return spelled(v.Name) + "=" + redact.Mark }

// spelled returns text as it stands inside a quoted Go string, so that it cannot drive the terminal that shows it.
func spelled(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// Format writes NAME=[redacted] for every verb.
func (v EnvVar) Format(state fmt.State, _ rune) { fmt.Fprint(state, v.String()) }

// LogValue returns NAME=[redacted].
func (v EnvVar) LogValue() slog.Value { return slog.StringValue(v.String()) }

// String shows every field, with the values of Env hidden.
func (c ExecConfig) String() string {
	return fmt.Sprintf("{Command:%q Args:%q Env:%v APIVersion:%q InstallHint:%q ProvideClusterInfo:%t InteractiveMode:%q "+
		"Policy:%q StdinUnavailable:%t StdinUnavailableMessage:%q Impersonate:%q}",
		c.Command, c.Args, c.Env, c.APIVersion, c.InstallHint, c.ProvideClusterInfo, c.InteractiveMode,
		c.Policy, c.StdinUnavailable, c.StdinUnavailableMessage, c.Impersonate)
}

// Format writes String for every verb: fmt calls no method inside a struct that it prints with a verb like %s.
func (c ExecConfig) Format(state fmt.State, _ rune) { fmt.Fprint(state, c.String()) }

// LogValue returns String.
func (c ExecConfig) LogValue() slog.Value { return slog.StringValue(c.String()) }

// InteractiveMode is the contract between a plugin and standard input.
type InteractiveMode string

// The modes of KEP-541.
const (
	// Never is a plugin that does not read standard input.
	Never InteractiveMode = "Never"
	// IfAvailable is a plugin that reads standard input when it gets it and works without.
	IfAvailable InteractiveMode = "IfAvailable"
	// Always is a plugin that needs standard input; without it the plugin is not run.
	Always InteractiveMode = "Always"
)

// Defaulted returns the configuration with IfAvailable in place of an empty mode where the version allows it. The
// slices are shared.
func (c ExecConfig) Defaulted() ExecConfig {
	if c.InteractiveMode == "" && KnownVersion(c.APIVersion) && !RequiresMode(c.APIVersion) {
		c.InteractiveMode = IfAvailable
	}
	return c
}

// Validate returns every fault of the configuration after [ExecConfig.Defaulted], joined, in the order of the fields;
// nil when there is none. Each is a *[FieldError]. Whether the command exists is not asked here.
func (c ExecConfig) Validate() error {
	c = c.Defaulted()
	var faults []error
	fault := func(field, rule string) { faults = append(faults, &FieldError{Field: field, Rule: rule}) }
	if c.Command == "" {
		fault("command", "is required")
	}
	for i, entry := range c.Env {
		if entry.Name == "" {
			fault(fmt.Sprintf("env[%d].name", i), "is required")
		}
	}
	switch {
	case c.APIVersion == "":
		fault("apiVersion", "is required")
	case !KnownVersion(c.APIVersion):
		fault("apiVersion", fmt.Sprintf("%q is not one of %s, %s and %s", c.APIVersion, V1, V1Beta1, V1Alpha1))
	}
	switch {
	case slices.Contains([]InteractiveMode{Never, IfAvailable, Always}, c.InteractiveMode):
	case c.InteractiveMode != "":
		fault("interactiveMode", fmt.Sprintf("%q is not one of Never, IfAvailable and Always", c.InteractiveMode))
	case RequiresMode(c.APIVersion):
		fault("interactiveMode", "is required in "+V1)
	}
	faults = append(faults, c.Policy.faults()...)
	if err := c.Impersonate.Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// Clone returns a copy that shares no slice and no map with c.
func (c ExecConfig) Clone() ExecConfig {
	c.Args = slices.Clone(c.Args)
	c.Env = slices.Clone(c.Env)
	c.Policy.Commands = slices.Clone(c.Policy.Commands)
	c.Impersonate = c.Impersonate.Clone()
	return c
}
