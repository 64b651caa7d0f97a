package restconfig_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
)

func ExampleLoadExecCredential() {
	info := `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,"cluster":{"server":"https://127.0.0.1:6443"}}}`
	object, config, err := restconfig.LoadExecCredential([]byte(info))
	fmt.Println(object.APIVersion, config.Host, err)
	// Output: client.authentication.k8s.io/v1 https://127.0.0.1:6443 <nil>
}
