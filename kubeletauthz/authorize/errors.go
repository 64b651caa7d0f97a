package authorize

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

var (
	// ErrContradiction says that a review was answered with allowed and denied at once. It is no answer.
	ErrContradiction = errors.New("review both allows and denies")

	// ErrNoReviewer says that there is no Reviewer to ask: a nil one, or a Cache that [NewCache] did not make.
	ErrNoReviewer = errors.New("no reviewer to ask")

	// ErrOverdue says that a Cache has [MaxOverdue] reviews whose Reviewer has not returned in time, so that it starts no other.
	ErrOverdue = errors.New("too many reviews are overdue")

	// ErrNotAReview says that a server's answer to a review is not a SubjectAccessReview of authorization.k8s.io/v1.
	ErrNotAReview = errors.New("answer is not a SubjectAccessReview")

	// ErrTooLarge says that a server's answer to a review exceeds [MaxAnswerBytes].
	ErrTooLarge = errors.New("answer is too large")
)

// PanicError says that a Reviewer, or a part of a guard, panicked instead of answering.
type PanicError struct {
	// Value is what it panicked with. It may hold anything, so the error's text does not.
	Value any
	// Stack is the goroutine's stack at the panic, as [runtime/debug.Stack] has it.
	Stack []byte
}

// Error gives the fault of the program, such as a nil dereference, and of any other value the type alone.
func (e *PanicError) Error() string {
	if fault, is := e.Value.(runtime.Error); is {
		return "panic: " + fault.Error()
	}
	return fmt.Sprintf("panic with a value of type %T", e.Value)
}

// Unwrap returns the value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Error says that a question about a request had no answer, so that the request is refused.
type Error struct {
	// Attribute is the question; later ones were not asked.
	Attribute kubeletauthz.Attribute
	// Err is the Reviewer's error, the context's, ErrContradiction, ErrNoReviewer or a [*PanicError].
	Err error
}

// Error names the question and the cause.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s/%s on %q: %v", e.Attribute.Verb, e.Attribute.Resource, e.Attribute.Subresource, e.Attribute.Name, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// StatusError says that a server answered a review with an HTTP status other than 200 and 201.
type StatusError struct {
	// Code is the HTTP status.
	Code int
	// Body is how the answer's text begins, at most [MaxErrorBytes].
	Body string
}

// Error gives the status and the quoted text.
func (e *StatusError) Error() string {
	return fmt.Sprintf("review answered with status %d: %q", e.Code, e.Body)
}
