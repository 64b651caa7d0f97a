package authorize

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/redact"
)

var (
	// ErrContradiction says that a review was answered with allowed and denied at once, which is not an answer.
	ErrContradiction = errors.New("review both allows and denies")

	// ErrNoReviewer says that there is no Reviewer to ask: a nil one, or a Cache that [NewCache] did not make.
	ErrNoReviewer = errors.New("no reviewer to ask")

	// ErrOverdue says that a Cache starts no review, because in 1,024 others the Reviewer has not returned in time.
	ErrOverdue = errors.New("too many reviews are overdue")

	// ErrNotAReview says that a server's answer to a review is not a SubjectAccessReview of authorization.k8s.io/v1.
	ErrNotAReview = errors.New("answer is not a SubjectAccessReview")
)

// ReviewError says that a question about a request was not answered, so that the request is refused.
type ReviewError struct {
	// Attribute is the question; later ones were not asked.
	Attribute kubeletauthz.Attribute
	// Err is the Reviewer's error, the context's, ErrContradiction, ErrNoReviewer or a [*PanicError].
	Err error
}

// Error names the question and the cause.
func (e *ReviewError) Error() string {
	return fmt.Sprintf("%s %s/%s on %q: %v", e.Attribute.Verb, e.Attribute.Resource, e.Attribute.Subresource, e.Attribute.Name, e.Err)
}

// Unwrap returns the cause.
func (e *ReviewError) Unwrap() error { return e.Err }

// StatusError says that a server answered a review with an HTTP status other than 200 and 201. It is an
// [ErrNotAReview].
type StatusError struct {
	// Code is the HTTP status.
	Code int
	// Body is the beginning of the answer, at most 512 bytes. The error's text leaves it out.
	Body redact.Text
}

// Error gives the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("review answered with status %d %s", e.Code, http.StatusText(e.Code))
}

// Unwrap returns ErrNotAReview.
func (e *StatusError) Unwrap() error { return ErrNotAReview }

// PanicError says that a Reviewer, or a part of a guard, panicked instead of answering. Make it with [NewPanicError].
type PanicError struct {
	// Stack is the goroutine's stack at the panic, in the form of [runtime/debug.Stack].
	Stack redact.Bytes
	// A function, because the value may hold anything and fmt walks unexported fields.
	value func() any
}

// NewPanicError returns the error for a value that recover returned, with the stack of the calling goroutine. It is
// called in the deferred function that recovers, while the stack still shows where the panic came from.
func NewPanicError(value any) *PanicError {
	return &PanicError{Stack: redact.NewBytes(debug.Stack()), value: func() any { return value }}
}

// Error describes a fault of the program, such as a nil dereference, and of any other value the type alone.
func (e *PanicError) Error() string {
	if e.value == nil {
		return "panic"
	}
	if fault, is := e.value().(runtime.Error); is {
		return "panic: " + fault.Error()
	}
	return fmt.Sprintf("panic with a value of type %T", e.value())
}

// Unwrap returns the value of the panic if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	if e.value == nil {
		return nil
	}
	err, _ := e.value().(error)
	return err
}
