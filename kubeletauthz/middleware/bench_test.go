package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
)

// BenchmarkGuard is what a guard adds to a request whose answer is remembered.
func BenchmarkGuard(b *testing.B) {
	guard, err := middleware.New(middleware.Options{
		Authenticator: byHeader, Mapper: mapper(b, kubeletauthz.Options{}),
		Authorizer: authorize.New(authorize.NewCache(roles(agents), authorize.CacheOptions{}), authorize.Options{}),
	})
	if err != nil {
		b.Fatal(err)
	}
	h := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r, w := httptest.NewRequest("GET", "/pods", nil), httptest.NewRecorder()
	r.Header.Set("X-User", "pods")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
