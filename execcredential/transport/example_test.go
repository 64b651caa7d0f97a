package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/pluginexec"
)

// A client of net/http that logs in as kubectl does.
func Example() {
	config, _ := kubeconfig.Parse(strings.NewReader(`
current-context: dev
contexts: [{name: dev, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin, interactiveMode: Never, installHint: ask your administrator}}}]
`))
	resolved, err := config.Resolve("", kubeconfig.Overrides{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pool, _ := transport.NewPool(transport.Options{})
	defer pool.Close()
	client, err := pool.Client(*resolved.Exec, resolved.Cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Get(resolved.Cluster.Server + "/api")
	fmt.Println(errors.Is(err, pluginexec.ErrNotFound))
	var plugin *transport.PluginError
	fmt.Println(errors.As(err, &plugin), plugin)
	// Output:
	// true
	// true credential plugin: command "no-such-plugin": no such executable
	//
	// ask your administrator
}

func ExampleSource_Wrap() {
	pool, _ := transport.NewPool(transport.Options{Policy: execcredential.Policy{Type: execcredential.PolicyDenyAll}})
	defer pool.Close()
	source, _ := pool.Source(execcredential.ExecConfig{
		Command: "plugin", APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever,
	}, nil)
	client := &http.Client{Transport: source.Wrap(http.DefaultTransport)}
	request, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://127.0.0.1:1", nil)
	_, err := client.Do(request)
	fmt.Println(errors.Is(err, execcredential.ErrNotPermitted))
	// Output: true
}
