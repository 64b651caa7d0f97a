package execcredential_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execcredential"
)

func ExampleParseAnswer() {
	output := `{
	  "apiVersion": "client.authentication.k8s.io/v1",
	  "kind": "ExecCredential",
	  "status": {"token": "s3cr3t", "expirationTimestamp": "2030-01-01T00:00:00Z"}
	}`
	credential, err := execcredential.ParseAnswer([]byte(output), execcredential.V1)
	fmt.Println(credential, err)
	_, err = execcredential.ParseAnswer([]byte(output), execcredential.V1Beta1)
	fmt.Println(err)
	// Output:
	// credential token=[redacted] expires=2030-01-01T00:00:00Z <nil>
	// plugin is configured for apiVersion client.authentication.k8s.io/v1beta1 and answered with "client.authentication.k8s.io/v1"
}

func ExampleInfo() {
	config := execcredential.ExecConfig{APIVersion: execcredential.V1}
	info, _ := execcredential.Info(config, nil, false)
	fmt.Print(info)
	// Output: {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}
}

func ExampleExecConfig_Validate() {
	fmt.Println(execcredential.ExecConfig{APIVersion: execcredential.V1}.Validate())
	// Output:
	// command: is required
	// interactiveMode: is required in client.authentication.k8s.io/v1
}
