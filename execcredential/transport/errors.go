package transport

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
)

var (
	// ErrClosed is the condition of a pool or source after Close.
	ErrClosed = errors.New("closed")
	// ErrPoolFull is the condition of a pool whose every source is in use.
	ErrPoolFull = errors.New("every source of the pool is in use")
	// ErrNoTerminal is the condition of a plugin that needs standard input where that is not a terminal.
	ErrNoTerminal = errors.New("standard input is not a terminal")
	// ErrClaimed is the condition of a plugin that needs standard input while somebody else reads it.
	ErrClaimed = errors.New("standard input is claimed")
	// ErrCustomTLS is the condition of a base transport that dials TLS itself, so that no client certificate can reach
	// it.
	ErrCustomTLS = errors.New("base transport dials TLS itself")
	// ErrNoTLS is the condition of a client certificate that no TLS configuration could present.
	ErrNoTLS = errors.New("the base has no TLS configuration that could present the client certificate")
	// ErrServer is the condition of a server that is not an absolute http or https URL, so that no request can be said
	// to be for it.
	ErrServer = errors.New("server is not an absolute http or https URL")
	// ErrRefused is the condition of a credential that the server answered with 401.
	ErrRefused = errors.New("the server refused the credential with 401")
)

// PluginError is everything that keeps a plugin from giving a credential. It unwraps to the reason.
type PluginError struct {
	// Command is the command as configured.
	Command string
	// Hint is the install hint, when the plugin was not found and the hint has not been given ten times in the last
	// hour. Escape characters in it are made visible.
	Hint string
	// Err is the reason: an error of this package, of execcredential or of pluginexec.
	Err error
}

// Error names the command and the reason, then the hint.
func (e *PluginError) Error() string {
	text := "credential plugin: " + e.Err.Error()
	if e.Hint == "" {
		return text
	}
	return text + "\n\n" + strings.TrimRight(e.Hint, "\n")
}

// Unwrap returns Err.
func (e *PluginError) Unwrap() error { return e.Err }

// BackoffError says that the plugin is not run again before Until. It unwraps to the last error.
type BackoffError struct {
	// Until is the earliest moment of the next run.
	Until time.Time
	// Failures is the number of failed runs or refused credentials in a row.
	Failures int
	// Err is the last error, or ErrRefused.
	Err error
}

// Error says how often it failed, when the next try is due, and the last error.
func (e *BackoffError) Error() string {
	return "no usable credential after " + strconv.Itoa(e.Failures) + " failures in a row, next try at " +
		e.Until.Format(time.RFC3339) + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *BackoffError) Unwrap() error { return e.Err }

// OriginError says that a request is not for the server that the credential belongs to. It was not sent.
type OriginError struct {
	// Server is the origin where the credential belongs: scheme, host and port.
	Server string
	// Request is the origin of the request.
	Request string
}

// Error names both origins.
func (e *OriginError) Error() string {
	return "request is for " + e.Request + ", and the credential belongs to " + e.Server
}

// InteractiveError says that a plugin needs standard input and cannot have it. The plugin was not run.
type InteractiveError struct {
	// Mode is the configured mode.
	Mode execcredential.InteractiveMode
	// By says who has claimed standard input, or is the configuration's StdinUnavailableMessage; empty when there is
	// neither.
	By string
	// Err is ErrNoTerminal or ErrClaimed.
	Err error
}

// Error names the mode and the reason.
func (e *InteractiveError) Error() string {
	text := "interactive mode " + string(e.Mode) + ": " + e.Err.Error()
	if e.By != "" {
		text += " by " + visible(e.By)
	}
	return text
}

// Unwrap returns Err.
func (e *InteractiveError) Unwrap() error { return e.Err }

// WaitError says that the caller's context ended while a plugin was running for it. It unwraps to the context's error.
type WaitError struct {
	// Command is the command as configured.
	Command string
	// Waited is how long the caller waited.
	Waited time.Duration
	// Err is the error of the context.
	Err error
}

// Error names the command, the wait and the context's error.
func (e *WaitError) Error() string {
	return "credential plugin " + strconv.Quote(e.Command) + " has not answered after " + e.Waited.Round(time.Millisecond).String() + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *WaitError) Unwrap() error { return e.Err }
