package kubelet

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// RequestError is why the kubelet refuses a request.
type RequestError struct {
	// Code is the HTTP status code to answer with: 400 or 403.
	Code int
	// Faults are all faults, by position or name, never with a value.
	Faults field.ErrorList
}

// Error returns the faults as Kubernetes prints a list of them.
func (e *RequestError) Error() string {
	return e.Faults.ToAggregate().Error()
}
