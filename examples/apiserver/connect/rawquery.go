package connect

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/lanyard-dev/lanyard/examples/rawquery"
)

// errNoQuery: the server was put together without rawquery.Keep.
var errNoQuery = errors.New("the request's query was not kept")

// queryOf returns the query as the client sent it; sent is false for options that came with no request.
func queryOf(ctx context.Context) (query string, sent bool, err error) {
	query, sent = rawquery.From(ctx)
	if _, request := request.RequestInfoFrom(ctx); request && !sent {
		return "", false, apierrors.NewInternalError(errNoQuery)
	}
	return query, sent, nil
}

// readable returns an error when a parameter of the query was left out of the options.
func readable(ctx context.Context) error {
	query, _, err := queryOf(ctx)
	if err != nil {
		return err
	}
	if err := rawquery.Check(query); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}
