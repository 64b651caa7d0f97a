package middleware_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	"github.com/lanyard-dev/lanyard/kubeletauthz/middleware"
)

func ExampleNew() {
	mapper, _ := kubeletauthz.New(kubeletauthz.Options{Node: "node-1"})
	guard, _ := middleware.New(middleware.Options{
		Authenticator: middleware.AuthenticatorFunc(func(*http.Request) (authorize.User, bool, error) {
			return authorize.User{Name: "pods"}, true, nil
		}),
		Authorizer: authorize.New(roles(map[string][2]string{"pods": {"get", "nodes/pods"}}), authorize.Options{}),
		Mapper:     mapper,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/pods", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "a list of pods") })
	kubelet := httptest.NewServer(guard(mux))
	defer kubelet.Close()
	for _, path := range []string{"/pods", "/exec/ns/pod/app"} {
		response, _ := http.Get(kubelet.URL + path)
		body, _ := io.ReadAll(response.Body)
		fmt.Print(response.StatusCode, " ", string(body))
	}
	// Output:
	// 200 a list of pods
	// 403 Forbidden (user=pods, verb=get, resource=nodes, subresource(s)=[proxy])
}
