package kubelet

import "github.com/lanyard-dev/lanyard/execaudit"

// RequestError is why the kubelet refuses a request. It unwraps to its Faults.
type RequestError struct {
	// Code is the HTTP status code to answer with: 400 or 403.
	Code int
	// Faults are all faults, by position or name, never with a value.
	Faults execaudit.Faults
}

// Error returns the faults as Kubernetes prints a list of them.
func (e *RequestError) Error() string { return e.Faults.Error() }

// Unwrap returns the Faults.
func (e *RequestError) Unwrap() error { return e.Faults }
