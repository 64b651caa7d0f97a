package server

import (
	"errors"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
	"github.com/lanyard-dev/lanyard/execaudit/kubelet"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

// fail answers with the error's text and the HTTP status that fits it.
func fail(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), code(err))
}

func code(err error) int {
	var refused *kubelet.RequestError
	var api apierrors.APIStatus
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &api):
		return int(api.Status().Code)
	case errors.Is(err, pods.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, negotiate.ErrUnsupported):
		return http.StatusForbidden
	}
	switch status.Code(err) {
	case codes.NotFound:
		return http.StatusNotFound
	case codes.InvalidArgument:
		return http.StatusBadRequest
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.Unavailable, codes.DeadlineExceeded:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
