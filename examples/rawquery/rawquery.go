// Package rawquery looks at a query as the client sent it. net/url's Query drops a parameter that it cannot read, and a
// server that goes by it runs a command without one of its arguments, or in another container.
package rawquery

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// Check returns nil when url.URL.Query reads every parameter of rawQuery, else an error that names the first it would
// drop by its position, from 0, and never its text. Env parameters are not looked at: execaudit reads them itself.
func Check(rawQuery string) error {
	i := 0
	for parameter := range strings.SplitSeq(rawQuery, "&") {
		if !reads(parameter) && !isEnv(parameter) {
			return fmt.Errorf("query parameter %d cannot be read: it holds a semicolon or a percent sign that is not escaped", i)
		}
		i++
	}
	return nil
}

// reads reports what url.ParseQuery would, without decoding anything: a query may be long.
func reads(parameter string) bool {
	for rest := parameter; rest != ""; {
		i := strings.IndexAny(rest, "%;")
		if i < 0 {
			return true
		}
		if rest[i] == ';' || len(rest) < i+3 || !isHex(rest[i+1]) || !isHex(rest[i+2]) {
			return false
		}
		rest = rest[i+3:]
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isEnv(parameter string) bool {
	key, _, _ := strings.Cut(parameter, "=")
	if len(key) > 3*len(execaudit.QueryParam) {
		return false
	}
	name, err := url.QueryUnescape(key)
	return err == nil && name == execaudit.QueryParam
}

type contextKey struct{}

// Keep returns a handler that hands each request to next with its query in the request's context, for code that is
// given only what net/url made of it.
func Keep(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, r.URL.RawQuery)))
	})
}

// From returns what Keep has kept; false when the context did not come through it.
func From(ctx context.Context) (rawQuery string, ok bool) {
	rawQuery, ok = ctx.Value(contextKey{}).(string)
	return rawQuery, ok
}
