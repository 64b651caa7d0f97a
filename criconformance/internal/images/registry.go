package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Repository is the name of the images in a registry.
const Repository = "lanyard-criconformance"

// runPath is where a registry says to whose run it belongs.
const runPath = "/criconformance/run"

// Registry is a registry on loopback, in this process. While it answers, its run is alive: that is how a later run knows
// which leftovers are nobody's.
type Registry struct {
	listener net.Listener
	server   *http.Server
}

// Serve starts a registry for the run. Close it when done.
func Serve(run string) (*Registry, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	mux.HandleFunc(runPath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, run) })
	r := &Registry{l, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

// Port is where it listens.
func (r *Registry) Port() string {
	_, port, _ := net.SplitHostPort(r.listener.Addr().String())
	return port
}

// Repository is where the images are. By the name localhost, unlike by number, runtimes speak plain HTTP to it.
func (r *Registry) Repository() string { return "localhost:" + r.Port() + "/" + Repository }

// Close ends the registry and its connections.
func (r *Registry) Close() error { return r.server.Close() }

// Alive reports whether the run's registry still answers at the port.
func Alive(ctx context.Context, port, run string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+port+runPath, nil)
	if err != nil {
		return false
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		// A registry that is too busy to answer is there.
		return errors.Is(err, context.DeadlineExceeded)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, 256))
	return err == nil && string(got) == run
}

// Push stores the images under repository:tag, with the credentials of the machine's docker configuration.
func Push(ctx context.Context, repository string, set []Named) error {
	for _, n := range set {
		ref, err := name.ParseReference(repository + ":" + n.Tag)
		if err != nil {
			return err
		}
		err = remote.Write(ref, n.Image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain),
			remote.WithTransport(&http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}))
		if err != nil {
			return fmt.Errorf("push %s: %w", ref, err)
		}
	}
	return nil
}
