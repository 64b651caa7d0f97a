package pluginexec

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

var (
	// ErrNotFound is the condition of a command that names no file, by path or on PATH.
	ErrNotFound = errors.New("no such executable")
	// ErrNotExecutable is the condition of a file that is there and cannot be executed: no permission, a directory, or
	// a script whose interpreter is missing.
	ErrNotExecutable = errors.New("not executable")
	// ErrTooLarge is the condition of arguments and environment that the kernel refuses for their size.
	ErrTooLarge = errors.New("arguments and environment too large")
)

// LookupError says that a command cannot be run at all. It unwraps to [ErrNotFound] or [ErrNotExecutable] and to the
// cause.
type LookupError struct {
	// Command is what was asked for.
	Command string
	// Path is the file that was found and refused; empty when none was found.
	Path string
	// Kind is ErrNotFound or ErrNotExecutable.
	Kind error
	// Err is the operating system's reason; nil when there is none beyond Kind.
	Err error
}

// Error names the command, the file when one was found, and the condition.
func (e *LookupError) Error() string {
	if e.Path == "" || e.Path == e.Command {
		return fmt.Sprintf("command %q: %v", e.Command, e.Kind)
	}
	return fmt.Sprintf("command %q: %q is %v", e.Command, e.Path, e.Kind)
}

// Unwrap returns Kind and, when there is one, Err.
func (e *LookupError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// StartError says that an executable file was found and the process could not be started.
type StartError struct {
	// Path is the file.
	Path string
	// Err is the operating system's reason; it matches [ErrTooLarge] when the environment was too large.
	Err error
}

// Error names the file and the reason.
func (e *StartError) Error() string { return fmt.Sprintf("start %q: %v", e.Path, e.Err) }

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// ExitError says that the process ended without success by itself, or by a signal that this package did not send.
type ExitError struct {
	// Path is the file that ran.
	Path string
	// Code is the exit code, -1 when a signal ended the process.
	Code int
	// Signal is the signal that ended the process, 0 when none did. Always 0 on Windows.
	Signal syscall.Signal
	// Stderr is the end of standard error, at most [MaxStderr] bytes. It is the plugin's own text and may hold
	// anything, so it is shown by Reveal only.
	Stderr redact.Bytes
}

// Error names the file and the exit code or signal, and nothing that the process wrote.
func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return fmt.Sprintf("%q ended by signal %d (%v)", e.Path, int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("%q exited with code %d", e.Path, e.Code)
}

// TimeoutError says that the process was killed at its time limit.
type TimeoutError struct {
	// Path is the file that ran.
	Path string
	// Limit is the time limit.
	Limit time.Duration
	// Stderr is the end of standard error, at most [MaxStderr] bytes.
	Stderr redact.Bytes
}

// Error names the file and the limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%q did not finish within %v", e.Path, e.Limit)
}

// Timeout reports true, as net.Error defines it.
func (e *TimeoutError) Timeout() bool { return true }

// CancelledError says that the process was killed because the caller's context ended. It unwraps to the context's
// cause.
type CancelledError struct {
	// Path is the file that ran.
	Path string
	// Err is the cause of the context.
	Err error
	// Stderr is the end of standard error, at most [MaxStderr] bytes.
	Stderr redact.Bytes
}

// Error names the file and the cause.
func (e *CancelledError) Error() string { return fmt.Sprintf("%q stopped: %v", e.Path, e.Err) }

// Unwrap returns Err.
func (e *CancelledError) Unwrap() error { return e.Err }

// OutputTooLargeError says that the process was killed because it wrote more to standard output than it may.
type OutputTooLargeError struct {
	// Path is the file that ran.
	Path string
	// Limit is the largest output in bytes.
	Limit int64
	// Stderr is the end of standard error, at most [MaxStderr] bytes.
	Stderr redact.Bytes
}

// Error names the file and the limit.
func (e *OutputTooLargeError) Error() string {
	return fmt.Sprintf("%q wrote more than %d bytes to standard output", e.Path, e.Limit)
}
