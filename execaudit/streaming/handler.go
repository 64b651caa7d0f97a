package streaming

import (
	"context"
	"net/http"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// Handler returns a handler for a streaming server, next, that puts the
// environment of each exec stream into the request's context, where FromContext
// finds it. It answers 404, as the streaming server does, when the token is
// unknown, was used before or has expired. Requests to /attach/TOKEN and
// /portforward/TOKEN, below any prefix, pass as they are.
func (s *Sessions) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		endpoint, token := lastTwo(r.URL.Path)
		if endpoint == "attach" || endpoint == "portforward" {
			next.ServeHTTP(w, r)
			return
		}
		envs, found := s.take(token)
		if !found {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, envs)))
	})
}

type contextKey struct{}

// FromContext returns the environment of the exec session whose stream ctx
// belongs to, nil when the session has none. ok is false when ctx did not come
// through Handler. The caller owns the slice.
func FromContext(ctx context.Context) (envs []envprecedence.Entry, ok bool) {
	envs, ok = ctx.Value(contextKey{}).([]envprecedence.Entry)
	return envs, ok
}
