package criwire

import (
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// Environ returns the environment in field 7 of req as environ strings, NAME=VALUE, in order, duplicates kept; nil for
// none or a nil req. They do not alias req, and fit envprecedence.Merge and Baseline.Merge.
//
// It refuses what Read refuses and what no process could be given. The error is an [*InvalidError], of all faults at
// once where entries are wrong; it unwraps to what Read returns or to those of envprecedence.Environ.
//
// Source: KEP-6035, CRI Primitive.
func Environ(req *runtimeapi.ExecRequest) ([]string, error) {
	envs, err := Read(req)
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	environ, err := envprecedence.Environ(envs, 0)
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	return environ, nil
}
