package execcredential

import (
	"errors"
	"fmt"
	"path/filepath"
)

// PolicyType says which plugins may run.
type PolicyType string

// The policy types.
const (
	// PolicyAllowAll lets every plugin run; the empty type means the same.
	PolicyAllowAll PolicyType = "AllowAll"
	// PolicyDenyAll lets none run.
	PolicyDenyAll PolicyType = "DenyAll"
	// PolicyAllowlist lets those run whose command is in the list.
	PolicyAllowlist PolicyType = "Allowlist"
)

// Policy is the user's defence against a kubeconfig from somebody else. The zero value allows everything, as kubectl
// does.
type Policy struct {
	// Type is PolicyAllowAll when empty.
	Type PolicyType
	// Commands are the permitted commands of a PolicyAllowlist, each a clean path or a bare name. It must be nil for
	// the other types.
	Commands []string
}

// Validate returns every fault, joined, each a *[FieldError]; nil when there is none. A security knob that is half set
// is a fault, not a default.
func (p Policy) Validate() error { return errors.Join(p.faults()...) }

func (p Policy) faults() []error {
	var faults []error
	fault := func(field, rule string) { faults = append(faults, &FieldError{Field: field, Rule: rule}) }
	switch p.Type {
	case "", PolicyAllowAll, PolicyDenyAll:
		if p.Commands != nil {
			fault("allowlist", fmt.Sprintf("must not be set with policy %q", p.Type))
		}
	case PolicyAllowlist:
		if len(p.Commands) == 0 {
			fault("allowlist", "must name a command; a policy that permits none is "+string(PolicyDenyAll))
		}
		for i, command := range p.Commands {
			switch {
			case command == "":
				fault(fmt.Sprintf("allowlist[%d]", i), "is empty")
			case filepath.Clean(command) != command:
				fault(fmt.Sprintf("allowlist[%d]", i), fmt.Sprintf("%q is not clean, want %q", command, filepath.Clean(command)))
			}
		}
	default:
		fault("policy", fmt.Sprintf("%q is not one of %s, %s and %s", p.Type, PolicyAllowAll, PolicyDenyAll, PolicyAllowlist))
	}
	return faults
}

// Check returns nil when the policy lets command run as the file path, else a *[PolicyError].
//
// An entry matches when it is command itself, or path, or when lookup resolves it to path. So a bare name in the list
// permits one file, the one it would run, and no other file of that name. Symbolic links are not followed and content
// is not checked.
func (p Policy) Check(command, path string, lookup func(string) (string, error)) error {
	switch p.Type {
	case "", PolicyAllowAll:
		return nil
	case PolicyAllowlist:
		for _, entry := range p.Commands {
			if entry == command || entry == path {
				return nil
			}
			if resolved, err := lookup(entry); err == nil && resolved == path {
				return nil
			}
		}
	}
	return &PolicyError{Command: command, Path: path, Policy: p.Type}
}
