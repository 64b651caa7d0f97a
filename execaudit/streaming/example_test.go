package streaming_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

func Example() {
	streamingServer := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		envs, ok := streaming.FromContext(r.Context()) // in the streaming backend's Exec
		fmt.Println(envs, ok)
	})
	sessions := streaming.New(streaming.Options{})
	handler := sessions.Handler(streamingServer)

	// In the CRI method Exec, with the URL that the streaming server's GetExec returned.
	err := sessions.Put("http://127.0.0.1:10010/exec/t0ken", []envprecedence.Entry{envprecedence.NewEntry("LOG_LEVEL", "debug")})
	fmt.Println(err)

	for range 2 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/exec/t0ken", nil))
		fmt.Println(w.Code)
	}
	// Output:
	// <nil>
	// [LOG_LEVEL=[redacted]] true
	// 200
	// 404
}
