package execcredential

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/lanyard-dev/lanyard/redact"
)

// ExecConfig is the exec section of a kubeconfig's user: which program to run, and how (KEP-541, Provider
// configuration). Printing, encoding and logging it show no argument and no environment value; package kubeconfig
// writes them to a file, and [Environ] and the runner of plugins pass them on.
type ExecConfig struct {
	// Command is the program: a path, or a name to look up on PATH. Required.
	Command string
	// Args are passed as they are: no shell, no expansion. They are not shown, because some plugins take a password or
	// a token as one.
	Args []redact.Text
	// Env are entries for the plugin's environment, over the client's own. Later entries win.
	Env []EnvVar
	// APIVersion is the version that goes out and has to come back. Required.
	APIVersion string
	// InstallHint is shown when the program is missing.
	InstallHint string
	// ProvideClusterInfo adds spec.cluster, which may be large, to the plugin's environment.
	ProvideClusterInfo bool
	// InteractiveMode is the plugin's relation to standard input. Required in V1, IfAvailable by default before.
	InteractiveMode InteractiveMode

	// The fields below are the client's, not the kubeconfig's exec section's.

	// Policy says whether Command may run at all, beside the policy of the pool: both have to permit it. The zero value
	// permits it.
	Policy Policy
	// StdinUnavailable keeps standard input from this plugin, as for a program that reads it itself.
	StdinUnavailable bool
	// StdinUnavailableMessage says why, for the error of a plugin that needs standard input. Optional.
	StdinUnavailableMessage string
	// Impersonate is whom the requests with the plugin's credential act as. The plugin is not told.
	Impersonate Impersonation
}

// EnvVar is one entry of a plugin's environment. Its value is not shown.
type EnvVar struct {
	Name  string
	Value redact.Text
}

// String returns NAME=[redacted], with control characters of the name spelled out.
func (v EnvVar) String() string { return spelled(v.Name) + "=" + redact.Mark }

// spelled returns text as it stands inside a quoted Go string, so that it cannot drive the terminal that shows it.
func spelled(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// String shows every field but the arguments and the values of Env, with control characters spelled out.
func (c ExecConfig) String() string {
	return fmt.Sprintf("{Command:%q Args:%d Env:%v APIVersion:%q InstallHint:%q ProvideClusterInfo:%t InteractiveMode:%q "+
		"Policy:%q StdinUnavailable:%t StdinUnavailableMessage:%q Impersonate:%q}",
		c.Command, len(c.Args), c.Env, c.APIVersion, c.InstallHint, c.ProvideClusterInfo, c.InteractiveMode,
		c.Policy, c.StdinUnavailable, c.StdinUnavailableMessage, c.Impersonate)
}

// InteractiveMode is the contract between a plugin and standard input.
type InteractiveMode string

// The modes of KEP-541.
const (
	// InteractiveNever is a plugin that does not read standard input.
	InteractiveNever InteractiveMode = "Never"
	// InteractiveIfAvailable is a plugin that reads standard input when it gets it and works without.
	InteractiveIfAvailable InteractiveMode = "IfAvailable"
	// InteractiveAlways is a plugin that needs standard input; without it the plugin is not run.
	InteractiveAlways InteractiveMode = "Always"
)

// Defaulted returns the configuration with IfAvailable in place of an empty mode where the version allows it. The
// slices are shared.
func (c ExecConfig) Defaulted() ExecConfig {
	if c.InteractiveMode == "" && knownVersion(c.APIVersion) && !requiresMode(c.APIVersion) {
		c.InteractiveMode = InteractiveIfAvailable
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
	case !knownVersion(c.APIVersion):
		fault("apiVersion", fmt.Sprintf("%q is not one of %s, %s and %s", c.APIVersion, V1, V1Beta1, V1Alpha1))
	}
	switch {
	case slices.Contains([]InteractiveMode{InteractiveNever, InteractiveIfAvailable, InteractiveAlways}, c.InteractiveMode):
	case c.InteractiveMode != "":
		fault("interactiveMode", fmt.Sprintf("%q is not one of Never, IfAvailable and Always", c.InteractiveMode))
	case requiresMode(c.APIVersion):
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
	c.Impersonate = c.Impersonate.clone()
	return c
}
