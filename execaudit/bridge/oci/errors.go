package oci

import (
	"errors"
	"strconv"
)

// What the faults of this package unwrap to.
var (
	// ErrConfig: a configuration is wrong.
	ErrConfig = errors.New("bad configuration")
	// ErrProcess: a process file is not one that can be rewritten.
	ErrProcess = errors.New("bad process file")
	// ErrPlace: something like a token stands elsewhere than first in the command, or behind something in its element.
	ErrPlace = errors.New("is like a token, which is the first element and nothing else")
	// ErrNoCommand: there is no command behind the token.
	ErrNoCommand = errors.New("is empty, where the command behind the token begins")
	// ErrNUL: the command cannot be executed.
	ErrNUL = errors.New("has a NUL byte")
	// ErrBundle: the container that is meant cannot be told.
	ErrBundle = errors.New("unknown container")
	// ErrMismatch: a token is for something else.
	ErrMismatch = errors.New("token is for another")
)

// ConfigFault is what is wrong with a configuration.
type ConfigFault struct {
	// Field is the name in the file, empty for the file as a whole.
	Field string
	// Rule says what is wrong with it.
	Rule string
}

// Error returns the field and the rule.
func (f *ConfigFault) Error() string {
	if f.Field == "" {
		return ErrConfig.Error() + ": " + f.Rule
	}
	return ErrConfig.Error() + ": " + f.Field + " " + f.Rule
}

// Unwrap returns [ErrConfig].
func (f *ConfigFault) Unwrap() error { return ErrConfig }

// ProcessFault is what is wrong with a process file. It holds nothing of the file.
type ProcessFault struct{ Rule string }

// Error returns the rule.
func (f *ProcessFault) Error() string { return ErrProcess.Error() + ": " + f.Rule }

// Unwrap returns [ErrProcess].
func (f *ProcessFault) Unwrap() error { return ErrProcess }

// CommandFault is what is wrong with a command that has a token. It holds nothing of the command.
type CommandFault struct {
	// Element is the element's place in the command, counted from 0, the token's own.
	Element int
	// Err is [ErrPlace], [ErrNoCommand] or [ErrNUL].
	Err error
}

// Error returns the element's number and the rule.
func (f *CommandFault) Error() string {
	return "command: element " + strconv.Itoa(f.Element) + " " + f.Err.Error()
}

// Unwrap returns Err.
func (f *CommandFault) Unwrap() error { return f.Err }

// BundleFault is why a container cannot be told.
type BundleFault struct {
	// Thing is what is wrong, Rule how.
	Thing, Rule string
}

// Error returns the thing and the rule.
func (f *BundleFault) Error() string { return ErrBundle.Error() + ": " + f.Thing + " " + f.Rule }

// Unwrap returns [ErrBundle].
func (f *BundleFault) Unwrap() error { return ErrBundle }

// MismatchError is a token that is for something else.
type MismatchError struct {
	// Thing is what differs: "node", "pod UID", "namespace", "pod", "container", or "command", whose values are left out.
	Thing string
	// Token is the token's value of it, Here the node's or the container's.
	Token, Here string
}

// Error returns both values.
func (e *MismatchError) Error() string {
	text := ErrMismatch.Error() + " " + e.Thing
	if e.Token == "" {
		return text
	}
	return text + ": " + strconv.Quote(e.Token) + ", this is " + strconv.Quote(e.Here)
}

// Unwrap returns [ErrMismatch].
func (e *MismatchError) Unwrap() error { return ErrMismatch }
