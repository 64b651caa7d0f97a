package kubeconfig_test

import (
	"fmt"
	"strings"

	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
)

func ExampleConfig_Resolve() {
	config, err := kubeconfig.Parse(strings.NewReader(`
current-context: dev
contexts: [{name: dev, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443"}}]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: aws-iam-authenticator
      args: [token, -i, c1]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	login, err := config.Resolve("", kubeconfig.Overrides{})
	fmt.Println(login.Method, login.Exec.Command, login.Exec.InteractiveMode, err)
	// Output: exec aws-iam-authenticator IfAvailable <nil>
}
