// Command client-go is the smallest useful client on client-go: a kubeconfig, a login, a request.
package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	response, err := client.Get(config.Host + "/version")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	return nil
}
