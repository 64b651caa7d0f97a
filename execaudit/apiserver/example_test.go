package apiserver_test

import (
	"fmt"
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
