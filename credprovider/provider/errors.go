package provider

import (
	"errors"
	"fmt"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// Stage is the step of a lookup that failed.
type Stage string

// The stages of a lookup before the plugin, in their order. What the plugin does wrong is an error of the [Runner].
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
)
