package pluginsdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lanyard-dev/lanyard/execcredential"
)

// ErrNoInfo is the condition of KUBERNETES_EXEC_INFO being unset or empty.
var ErrNoInfo = errors.New(execcredential.InfoEnv + " is unset or empty")

// Request is what the client told the plugin.
type Request struct {
	// APIVersion is the version to answer in.
	APIVersion string
	// Cluster is nil unless the client was configured to tell.
	Cluster *execcredential.Cluster
	// Interactive says whether standard input is a person's.
	Interactive bool
}

// Provider is a plugin's own part: from a request to a credential. It may prompt on standard error and, when the
// request is interactive, read standard input. It must not write to standard output, which carries the answer.
type Provider func(ctx context.Context, request Request) (execcredential.Status, error)

// Options are the settings of a plugin. The zero value has no cache and wants KUBERNETES_EXEC_INFO.
type Options struct {
	// Cache, when set, keeps answers between runs, under CacheKey.
	Cache *Cache
	// CacheKey names what an answer depends on besides the cluster information and the version: the user, the audience,
	// the provider. It becomes part of a digest.
	CacheKey string
	// DefaultVersion is the version to answer in when KUBERNETES_EXEC_INFO is absent, for a person who tries the plugin
	// by hand; empty makes that an error.
	DefaultVersion string
}

// Main runs the plugin and returns the exit code for os.Exit: 0 after an answer on standard output, 1 after an error on
// standard error. A signal to interrupt or terminate ends the provider's context.
func Main(provider Provider, options Options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, os.Getenv(execcredential.InfoEnv), os.Stdout, provider, options); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n", err)
		return 1
	}
	return 0
}

// Run answers one request. Info is the value of KUBERNETES_EXEC_INFO. Nothing is written unless the answer is complete
// and passes the checks of a client.
//
// Errors: [ErrNoInfo]; those of [execcredential.Parse] and of the provider; those of [execcredential.NewCredential] for
// an answer that no client would take; those of the cache and of out.
func Run(ctx context.Context, info string, out io.Writer, provider Provider, options Options) error {
	request, err := readOrDefault(info, options.DefaultVersion)
	if err != nil {
		return err
	}
	status, err := provide(ctx, request, provider, options)
	if err != nil {
		return err
	}
	answer, err := execcredential.EncodeAnswer(request.APIVersion, status)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, answer)
	return err
}

func readOrDefault(info, version string) (Request, error) {
	if info == "" && version != "" {
		return Request{APIVersion: version}, nil
	}
	return readRequest(info)
}

// readRequest reads the value of KUBERNETES_EXEC_INFO. Errors: [ErrNoInfo] and those of [execcredential.Parse].
func readRequest(info string) (Request, error) {
	if info == "" {
		return Request{}, ErrNoInfo
	}
	object, err := execcredential.Parse([]byte(info))
	if err != nil {
		return Request{}, err
	}
	return Request{APIVersion: object.APIVersion, Cluster: object.Spec.Cluster, Interactive: object.Spec.Interactive}, nil
}

func provide(ctx context.Context, request Request, provider Provider, options Options) (execcredential.Status, error) {
	login := func(ctx context.Context) (execcredential.Status, error) {
		status, err := provider(ctx, request)
		if err != nil {
			return execcredential.Status{}, err
		}
		_, err = execcredential.NewCredential(status)
		return status, err
	}
	if options.Cache == nil {
		return login(ctx)
	}
	return options.Cache.Do(ctx, cacheKey(request, options.CacheKey), login)
}
