// Package usage tells a wrong command line from a fault: the program ends with another exit code.
package usage

import "fmt"

// ExitCode is the program's for a wrong command line.
const ExitCode = 2

// Error is a fault of the command line.
type Error struct{ Err error }

// Errorf returns an Error with the text.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// Error is the fault's text.
func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e Error) Unwrap() error { return e.Err }

// ExitCode returns [ExitCode].
func (e Error) ExitCode() int { return ExitCode }
