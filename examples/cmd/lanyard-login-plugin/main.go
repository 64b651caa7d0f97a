// Command lanyard-login-plugin logs a user of the stack in, as a credential plugin of
// kubectl and of every other client that knows them.
//
// The password comes from LANYARD_PASSWORD, or from the person at the terminal. The
// service is trusted by the cluster's own certificate authority, which the client
// tells with provideClusterInfo.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/pluginsdk"
)

// password is the environment variable of those who are not there to be asked.
const password = "LANYARD_PASSWORD"

var (
	errFlags      = errors.New("-service and -user are required, and -kind is certificate or token")
	errNoCluster  = errors.New("no cluster information: set provideClusterInfo in the kubeconfig")
	errNoPassword = errors.New(password + " is not set, and there is nobody to ask")
)

func main() {
	service := flag.String("service", "", "URL of the login service")
	user := flag.String("user", "", "who logs in")
	kind := flag.String("kind", string(login.Certificate), "what to log in with: certificate or token")
	cache := flag.String("cache", "", "directory that keeps credentials for other processes; none without")
	flag.Parse()
	usable := *service != "" && *user != "" && login.Kind(*kind).Known()
	options := pluginsdk.Options{CacheKey: strings.Join([]string{*service, *user, *kind}, " ")}
	if *cache != "" {
		options.Cache = &pluginsdk.Cache{Dir: *cache}
	}
	os.Exit(pluginsdk.Main(func(ctx context.Context, request pluginsdk.Request) (execcredential.Status, error) {
		switch {
		case !usable:
			return execcredential.Status{}, errFlags
		case request.Cluster == nil:
			return execcredential.Status{}, errNoCluster
		}
		secret, err := ask(request, *user)
		if err != nil {
			return execcredential.Status{}, err
		}
		return login.Do(ctx, *service, request.Cluster.CertificateAuthorityData,
			login.Request{User: *user, Password: secret, Kind: login.Kind(*kind)})
	}, options))
}

// ask returns the password. Standard output carries the answer, so a person is asked on standard error.
func ask(request pluginsdk.Request, user string) (string, error) {
	if secret := os.Getenv(password); secret != "" {
		return secret, nil
	}
	if !request.Interactive {
		return "", errNoPassword
	}
	fmt.Fprintf(os.Stderr, "Password of %s: ", user)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}
