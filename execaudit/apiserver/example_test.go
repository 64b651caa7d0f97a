package apiserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

func ExampleExec_Inject() {
	exec := apiserver.Exec{Gates: execaudit.Gates{ExecEnvVar: true, ExecRequestID: true}}
	location := &url.URL{Scheme: "https", Host: "node:10250", Path: "/exec/shop/web-0/app", RawQuery: "command=sh&output=1"}
	location, result, err := exec.Inject(location, nil, "f4a3b2c1")
	fmt.Println(location, result, err)
	// Output: https://node:10250/exec/shop/web-0/app?command=sh&output=1&env=KUBERNETES_EXEC_AUDIT_ID%3Df4a3b2c1 injected <nil>
}

// A connector of nodes/proxy holds the kubelet's address and what follows proxy/, and its handler the request.
func ExampleExec_InjectProxied() {
	exec := apiserver.Exec{Gates: execaudit.Gates{ExecEnvVar: true, ExecRequestID: true}}
	connect := func(location url.URL, path, auditID string) http.Handler {
		location.Path = path
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent, _, err := exec.InjectProxied(r, &location, auditID)
			if err != nil {
				http.Error(w, err.Error(), http.StatusUnprocessableEntity)
				return
			}
			proxy := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL, p.Out.Host = sent, "" }}
			proxy.ServeHTTP(w, r)
		})
	}
	kubelet := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { fmt.Println("kubelet:", r.URL) }))
	defer kubelet.Close()
	address, _ := url.Parse(kubelet.URL)
	for _, query := range []string{"command=sh&output=1", "command=sh&env=KUBERNETES_EXEC_AUDIT_ID%3Dfake"} {
		answer := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/api/v1/nodes/n1/proxy/exec/shop/web-0/app?"+query, nil)
		connect(*address, "/exec/shop/web-0/app", "f4a3b2c1").ServeHTTP(answer, r)
		fmt.Print(answer.Body)
	}
	// Output:
	// kubelet: /exec/shop/web-0/app?command=sh&output=1&env=KUBERNETES_EXEC_AUDIT_ID%3Df4a3b2c1
	// env[0].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server
}
