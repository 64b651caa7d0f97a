package plugin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

// The kinds of an [Error].
var (
	// ErrMissing: there is no such executable.
	ErrMissing = errors.New("plugin not found")
	// ErrNotExecutable: there is a file, and it cannot be executed.
	ErrNotExecutable = errors.New("plugin not executable")
	// ErrStart: the process could not be started.
	ErrStart = errors.New("plugin cannot be started")
	// ErrTimeout: the process was killed at its time limit.
	ErrTimeout = errors.New("plugin timed out")
	// ErrCancelled: the process was killed because the caller's context ended; the context's error is wrapped too.
	ErrCancelled = errors.New("plugin run cancelled")
	// ErrExit: the process ended with another exit code than 0, or by a signal.
	ErrExit = errors.New("plugin failed")
	// ErrOutputTooLarge: the process was killed because it wrote too much, or the answer of another runner holds too
	// much.
	ErrOutputTooLarge = errors.New("plugin output too large")
	// ErrVersion: request, provider and answer are not of one version.
	ErrVersion = errors.New("plugin protocol version mismatch")
	// ErrInvalidResponse: the answer is not the one JSON object that the protocol wants.
	ErrInvalidResponse = errors.New("invalid plugin response")
	// ErrCacheKeyType: the answer's cacheKeyType is not Image, Registry or Global.
	ErrCacheKeyType = errors.New("invalid cacheKeyType in plugin response")
	// ErrEcho: the answer holds the service account token, and the provider's cacheType is not Token.
	ErrEcho = errors.New("plugin returned the service account token in its answer, which is not allowed when cacheType is not Token")
)

// Error says why a plugin gave no answer. It unwraps to its Kind and its cause.
type Error struct {
	// Provider is the name of the provider.
	Provider string
	// Image is the image of the request; empty when there was none yet.
	Image string
	// Kind is one of this package's conditions.
	Kind error
	// ExitCode is the exit code with ErrExit, and -1 otherwise or after a signal.
	ExitCode int
	// Stderr is the end of what the plugin wrote to standard error, at most 4 KiB, with the request's token cut out. It
	// is the plugin's own text, and contains the passwords that it prints, so it is shown by Reveal only.
	Stderr redact.Bytes
	// Err is the cause; it may be nil.
	Err error
}

// Error names the provider, the image, the kind and the cause, and nothing that the plugin wrote.
func (e *Error) Error() string {
	text := fmt.Sprintf("provider %q", e.Provider)
	if e.Image != "" {
		text += fmt.Sprintf(" for image %q", e.Image)
	}
	text += ": " + e.Kind.Error()
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Kind and, when there is one, Err.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// RunFailed reports whether err is an *[Error] of the process rather than of its answer. Upstream counts only these in
// kubelet_credential_provider_plugin_errors_total.
func RunFailed(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case ErrVersion, ErrInvalidResponse, ErrCacheKeyType, ErrEcho:
		return false
	}
	return true
}

func (p *Plugin) fail(request credprovider.Request, kind, cause error) *Error {
	return &Error{Provider: p.config.Name, Image: request.Image, Kind: kind, ExitCode: -1, Err: cause}
}

// runError sorts the errors of a child process.
func (p *Plugin) runError(request credprovider.Request, err error) *Error {
	e := p.fail(request, ErrStart, err)
	var (
		lookup    *pluginexec.LookupError
		exit      *pluginexec.ExitError
		timeout   *pluginexec.TimeoutError
		cancelled *pluginexec.CancelledError
		large     *pluginexec.OutputTooLargeError
	)
	switch {
	case errors.As(err, &exit):
		e.Kind, e.ExitCode, e.Stderr = ErrExit, exit.Code, exit.Stderr
	case errors.As(err, &timeout):
		e.Kind, e.Stderr = ErrTimeout, timeout.Stderr
	case errors.As(err, &cancelled):
		e.Kind, e.Stderr = ErrCancelled, cancelled.Stderr
	case errors.As(err, &large):
		e.Kind, e.Stderr = ErrOutputTooLarge, large.Stderr
	case errors.As(err, &lookup) && errors.Is(err, pluginexec.ErrNotFound):
		e.Kind = ErrMissing
	case errors.As(err, &lookup):
		e.Kind = ErrNotExecutable
	}
	e.Stderr = scrub(e.Stderr, request.ServiceAccountToken)
	return e
}

func (p *Plugin) decodeError(request credprovider.Request, stderr redact.Bytes, err error) *Error {
	kind := ErrInvalidResponse
	switch {
	case errors.Is(err, credprovider.ErrVersion):
		kind = ErrVersion
	case errors.Is(err, credprovider.ErrCacheKeyType):
		kind = ErrCacheKeyType
	}
	e := p.fail(request, kind, err)
	e.Stderr = scrub(stderr, request.ServiceAccountToken)
	return e
}

// minScrub is the shortest rest of a token that is looked for where standard error was cut: shorter ones are in any
// text.
const minScrub = 8 // bytes

// scrub returns stderr without the token, and without its end where the text begins in the middle of it.
func scrub(stderr redact.Bytes, token redact.Text) redact.Bytes {
	if token.IsEmpty() || stderr.IsEmpty() {
		return stderr
	}
	secret := []byte(token.Reveal())
	text := bytes.ReplaceAll(stderr.Reveal(), secret, []byte(redact.Mark))
	for rest := secret; len(rest) >= minScrub; rest = rest[1:] {
		if after, found := bytes.CutPrefix(text, rest); found {
			return redact.NewBytes(append([]byte(redact.Mark), after...))
		}
	}
	return redact.NewBytes(text)
}
