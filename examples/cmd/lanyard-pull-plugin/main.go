// Command lanyard-pull-plugin is a credential provider plugin: it checks the service
// account token of a pod and exchanges it at the registry for a password that is good
// for one repository. Without a token it gives the node's own login, where it has one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk"
)

// ErrNobody is returned for an image that is pulled for nobody in particular when
// there is no login for that.
var ErrNobody = errors.New("no service account token in the request, and no --node-login")

// ErrFlags is returned for a token that cannot be checked or exchanged.
var ErrFlags = errors.New("a service account token wants --issuer, --issuer-ca, --audience and --exchange")

// options are the command line.
type options struct {
	issuer, issuerCA string
	audience         string
	exchange         string
	annotation       string
	nodeLogin        string
	keep             time.Duration
}

func main() {
	var o options
	flags := flag.NewFlagSet("lanyard-pull-plugin", flag.ExitOnError)
	flags.StringVar(&o.issuer, "issuer", "", "issuer of service account tokens")
	flags.StringVar(&o.issuerCA, "issuer-ca", "", "file with the authority of the issuer's certificate")
	flags.StringVar(&o.audience, "audience", "", "audience that tokens must have")
	flags.StringVar(&o.exchange, "exchange", "", "URL where the registry gives a password for a token")
	flags.StringVar(&o.annotation, "annotation", "", "annotation that every request with a token must carry")
	flags.StringVar(&o.nodeLogin, "node-login", "", "file with user:password for requests without a token")
	flags.DurationVar(&o.keep, "keep", 0, "how long a password may be used again; 0 asks for a new one at each pull")
	_ = flags.Parse(os.Args[1:]) // ExitOnError
	os.Exit(pluginsdk.Main(o.answer))
}

// answer is the plugin.
func (o options) answer(ctx context.Context, r credprovider.Request) (credprovider.Response, error) {
	login, err := o.login(ctx, r)
	if err != nil {
		return credprovider.Response{}, err
	}
	return credprovider.Response{
		CacheKeyType:  credprovider.KeyImage,
		CacheDuration: credprovider.NewDuration(o.keep),
		Auth:          map[string]credprovider.AuthConfig{r.Image: login},
	}, nil
}

func (o options) login(ctx context.Context, r credprovider.Request) (credprovider.AuthConfig, error) {
	if r.ServiceAccountToken.IsEmpty() {
		return o.asNode()
	}
	if o.annotation != "" && r.ServiceAccountAnnotations[o.annotation] == "" {
		return credprovider.AuthConfig{}, fmt.Errorf("annotation %s is missing in the request", o.annotation)
	}
	if o.issuer == "" || o.issuerCA == "" || o.audience == "" || o.exchange == "" {
		return credprovider.AuthConfig{}, ErrFlags
	}
	return o.asWorkload(ctx, r)
}
