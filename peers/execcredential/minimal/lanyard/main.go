// Command lanyard is the smallest useful client on execcredential: a kubeconfig, a login, a request.
package main

import (
	"fmt"
	"os"

	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	config, err := kubeconfig.Load(os.Args[1:]...)
	if err != nil {
		return err
	}
	resolved, err := config.Resolve("", kubeconfig.Overrides{})
	if err != nil {
		return err
	}
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		return err
	}
	defer pool.Close()
	client, err := pool.Client(*resolved.Exec, resolved.Cluster)
	if err != nil {
		return err
	}
	response, err := client.Get(resolved.Cluster.Server + "/version")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	return nil
}
