package middleware_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
	authorizationv1 "k8s.io/api/authorization/v1"
)

const panicValue = "token abc123"

type panickingAuthorizer struct{}

func (panickingAuthorizer) Authorize(context.Context, authorize.User, kubeletauthz.Attributes) (authorize.Verdict, error) {
	panic(panicValue)
}

func TestAPanicRefuses(t *testing.T) {
	reviewer := authorize.ReviewerFunc(func(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
		panic(panicValue)
	})
	authenticator := middleware.AuthenticatorFunc(func(*http.Request) (authorize.User, bool, error) { panic(panicValue) })
	const fault = "Authorization error (user=u, verb=get, resource=nodes, subresource=pods)"
	var nobody *authorize.Authorizer
	for _, c := range []struct {
		name string
		by   middleware.Authenticator
		to   middleware.Authorizer
		code int
		body string
	}{
		{"an authenticator is 401", authenticator, authorize.AlwaysAllow{}, 401, "Unauthorized"},
		{"a nil authenticator func is 401", middleware.AuthenticatorFunc(nil), authorize.AlwaysAllow{}, 401, "Unauthorized"},
		{"an authorizer is 500", byHeader, panickingAuthorizer{}, 500, fault},
		{"an authorizer that is a nil pointer is 500", byHeader, nobody, 500, fault},
		{"a reviewer is 500", byHeader, authorize.New(reviewer, authorize.Options{}), 500, fault},
		{"a reviewer behind a cache is 500", byHeader, authorize.New(authorize.NewCache(reviewer, authorize.CacheOptions{}), authorize.Options{}), 500, fault},
		{"no reviewer is 500", byHeader, authorize.New(nil, authorize.Options{}), 500, fault},
	} {
		t.Run("KAZ-20 "+c.name, func(t *testing.T) {
			var log bytes.Buffer
			guard, err := middleware.New(middleware.Options{
				Authenticator: c.by, Authorizer: c.to, Mapper: mapper(t, kubeletauthz.Options{}), Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			h := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the guarded handler ran") }))
			w := get(h, "GET", "/pods", "u")
			if w.Code != c.code || w.Body.String() != c.body {
				t.Errorf("GET /pods = %d %q, want %d %q", w.Code, w.Body, c.code, c.body)
			}
			if text := log.String(); !strings.Contains(text, "level=ERROR") || strings.Contains(text, "abc123") {
				t.Errorf("log = %s, want one error without the panic's value", text)
			}
		})
	}
	t.Run("KAZ-20 a handler's own panic is the server's", func(t *testing.T) {
		guard, err := middleware.New(middleware.Options{Authenticator: byHeader, Authorizer: authorize.AlwaysAllow{}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("the handler's panic did not come through")
			}
		}()
		get(guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })), "GET", "/pods", "u")
	})
}
