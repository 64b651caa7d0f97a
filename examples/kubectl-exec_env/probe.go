package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	restclient "k8s.io/client-go/rest"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// errUnsupported says that a session would run without the variables.
var errUnsupported = errors.New("the API server does not take --env: it is older than the feature, or its feature gate " +
	execaudit.GateExecEnvVar + " is off; nothing was run")

// probe asks whether the server takes environment variables, by sending one that no server may accept: its name is a
// space. A server that knows env refuses it as invalid. One that does not finds that the request asks for no session,
// since it upgrades no connection; so in no case does anything run.
func probe(ctx context.Context, location *url.URL, config *restclient.Config) error {
	client, err := restclient.RESTClientFor(config)
	if err != nil {
		return err
	}
	asked := withQuery(location, execaudit.QueryParam+"=%20%3Dprobe")
	return judge(client.Post().RequestURI(asked.RequestURI()).Do(ctx).Error())
}

// judge decides by how the server refused.
func judge(err error) error {
	switch {
	case namesEnv(err):
		return nil
	case err == nil, apierrors.IsBadRequest(err):
		return errUnsupported
	default:
		return fmt.Errorf("asking whether the API server takes --env: %w", err)
	}
}

// namesEnv reports whether the server found fault with the variable.
func namesEnv(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) || status.ErrStatus.Details == nil {
		return false
	}
	return slices.ContainsFunc(status.ErrStatus.Details.Causes, func(c metav1.StatusCause) bool {
		return strings.HasPrefix(c.Field, execaudit.QueryParam+"[")
	})
}
