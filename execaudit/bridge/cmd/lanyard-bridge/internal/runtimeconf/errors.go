package runtimeconf

import "errors"

// Errors of this package; each comes wrapped with the file, the handler and the rule.
var (
	// ErrSyntax: the text is not TOML.
	ErrSyntax = errors.New("not TOML")
	// ErrForm: the text is TOML, and of a form that is not edited: an inline table, a string of several lines, an old
	// version.
	ErrForm = errors.New("form is not supported")
	// ErrMarked: the text has a mark of an earlier edit.
	ErrMarked = errors.New("has lines of an earlier installation")
	// ErrNotFound: the lines that an edit inserted are not there, or more than once.
	ErrNotFound = errors.New("lines of the installation were not found")
	// ErrHandler: the runtime has no such handler, or has it already.
	ErrHandler = errors.New("runtime handler")
	// ErrRuntime: the handler's runtime is not one that the wrapper can stand for.
	ErrRuntime = errors.New("runtime is not supported")
)
