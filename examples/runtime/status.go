package runtime

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/image"
	"github.com/lanyard-dev/lanyard/supgroups"
)

// withStatus gives every error of a call its gRPC code, in one place.
func withStatus(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	if err == nil {
		return resp, nil
	}
	if _, ok := status.FromError(err); ok {
		return nil, err
	}
	return nil, status.Error(code(err), err.Error())
}

// invalid are the errors that say the request itself is wrong.
var invalid = []error{
	supgroups.ErrUnknownPolicy, supgroups.ErrGroupWithoutUser, supgroups.ErrUserSyntax, supgroups.ErrIDRange,
	supgroups.ErrUnknownUser, supgroups.ErrUnknownGroup, supgroups.ErrTooManyGroups,
}

func code(err error) codes.Code {
	var entry *envprecedence.EntryError
	var layer *image.LayerError
	var registry *transport.Error
	switch {
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, image.ErrNotFound):
		return codes.NotFound
	case errors.As(err, &entry):
		return codes.InvalidArgument
	case errors.As(err, &registry):
		return registryCode(registry.StatusCode)
	case errors.As(err, &layer):
		return codes.FailedPrecondition
	}
	for _, sentinel := range invalid {
		if errors.Is(err, sentinel) {
			return codes.InvalidArgument
		}
	}
	return codes.Unknown
}

// registryCode is the code for what a registry answered.
func registryCode(answer int) codes.Code {
	switch answer {
	case http.StatusNotFound:
		return codes.NotFound
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	}
	return codes.Unavailable
}
