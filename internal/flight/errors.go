package flight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

var (
	// ErrAbandoned is the cause of a run's context when its last caller has left.
	ErrAbandoned = errors.New("nobody waits for the run")
	// ErrGoexit is the outcome of a function that ended its goroutine in place of returning.
	ErrGoexit = errors.New("the run ended its goroutine")
)

// LeftError says that a caller's context ended before the run did.
type LeftError struct {
	// Waited is how long the caller waited.
	Waited time.Duration
	// Err is the cause of the caller's context.
	Err error
}

// Error says how long the caller waited, and why it left.
func (e *LeftError) Error() string {
	return fmt.Sprintf("no outcome after %v: %v", e.Waited.Round(time.Millisecond), e.Err)
}

// Unwrap returns Err.
func (e *LeftError) Unwrap() error { return e.Err }

// LimitError says that a run was not done at its limit. It unwraps to [context.DeadlineExceeded].
type LimitError struct {
	// Limit is the limit.
	Limit time.Duration
}

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("not done within %v", e.Limit) }

// Unwrap returns [context.DeadlineExceeded].
func (e *LimitError) Unwrap() error { return context.DeadlineExceeded }

// PanicError says that the function panicked. What it panicked with may hold anything, so no text shows it: it is
// behind a method.
type PanicError struct {
	reveal func() (value any, stack []byte) // a function, which no formatting looks into
}

func newPanicError(value any, stack []byte) *PanicError {
	return &PanicError{reveal: func() (any, []byte) { return value, stack }}
}

// Value returns what the function panicked with.
func (e *PanicError) Value() any {
	value, _ := e.content()
	return value
}

// Stack returns the stack of the panic, as debug.Stack does.
func (e *PanicError) Stack() []byte {
	_, stack := e.content()
	return stack
}

func (e *PanicError) content() (value any, stack []byte) {
	if e.reveal == nil {
		return nil, nil
	}
	return e.reveal()
}

// Error names the type of the value; the text of an error of the Go runtime, such as an index out of range, is shown
// whole.
func (e *PanicError) Error() string {
	if fault, ok := e.Value().(runtime.Error); ok {
		return "the run panicked: " + fault.Error()
	}
	return fmt.Sprintf("the run panicked with a %T", e.Value())
}

// Unwrap returns the value when it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value().(error)
	return err
}

// Format writes Error for every verb: fmt would print the stack and the value for some of them.
func (e *PanicError) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, e.Error()) }
