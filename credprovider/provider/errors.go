package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

// Stage is the step of a lookup that failed.
type Stage string

// The stages of a lookup before the plugin, in their order. What the plugin does wrong is an error of the [Runner] or
// of [plugin.Check].
const (
	// StageAccount: the service account could not be fetched.
	StageAccount Stage = "get service account"
	// StageAnnotations: a required annotation is missing; the error wraps a *credprovider.MissingAnnotationsError.
	StageAnnotations Stage = "select annotations"
	// StageToken: the API server gave no token.
	StageToken Stage = "get service account token"
	// StageKey: the cache key cannot be made, because a value is too long; the error wraps credprovider.ErrKeyTooLong.
	StageKey Stage = "make cache key"
)

// Error says why a provider that matches gave no credentials, before its plugin was run. It unwraps to its cause.
type Error struct {
	// Provider is the name of the provider.
	Provider string
	// Image is the image of the lookup.
	Image string
	// Stage is the step that failed.
	Stage Stage
	// Account is the service account; before it was fetched it has no UID.
	Account credprovider.AccountRef
	// Audience is the audience of the token that the provider wants.
	Audience string
	// Err is the cause.
	Err error
}

// Error names everything but the UID.
func (e *Error) Error() string {
	return fmt.Sprintf("provider %q for image %q: %s of service account %q for audience %q: %v",
		e.Provider, e.Image, e.Stage, e.Account.String(), e.Audience, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var (
	// ErrNoAccounts is the error of a pool with tokenAttributes and no AccountSource.
	ErrNoAccounts = errors.New("a provider has tokenAttributes, and there is no source of service accounts")
	// ErrNoTokens is the error of a pool with tokenAttributes and no TokenSource.
	ErrNoTokens = errors.New("a provider has tokenAttributes, and there is no source of tokens")
	// ErrOtherAccount is the cause at StageAccount when the source returns a service account of another namespace or
	// name than the pod's, or one without a UID: answers would be kept for the wrong one.
	ErrOtherAccount = errors.New("the source returned another service account, or one without a UID")
	// ErrEmptyToken is the cause at StageToken when the source returns an empty token without an error: the plugin
	// would be run as the node, and its answer kept for the service account.
	ErrEmptyToken = errors.New("the source returned an empty token")
)

// scrubbed is an error of a Runner that quotes the token. It matches what the error matches, and is shown without the
// token.
type scrubbed struct {
	text string
	err  func() error // behind a function, which fmt does not follow
}

// scrub returns err, or err without the token when its text holds it.
func scrub(err error, token redact.Text) error {
	if token.IsEmpty() || !strings.Contains(err.Error(), token.Reveal()) {
		return err
	}
	return &scrubbed{text: strings.ReplaceAll(err.Error(), token.Reveal(), redact.Mark), err: func() error { return err }}
}

func (e *scrubbed) Error() string { return e.text }

// Is and As stand in for Unwrap, which a logger may walk to the text with the token. Who asks As for a type gets the
// Runner's own error, with the text that the Runner gave it.
func (e *scrubbed) Is(target error) bool { return errors.Is(e.err(), target) }

func (e *scrubbed) As(target any) bool { return errors.As(e.err(), target) }
