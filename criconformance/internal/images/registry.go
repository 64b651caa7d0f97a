package images

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
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

// Registry is a registry on loopback, in this process. While it answers, its run is alive: that is how a later run
// knows which leftovers are nobody's.
type Registry struct {
	listener net.Listener
	server   *http.Server
	secret   string
}

// Serve starts a registry for the run. Close it when done.
func Serve(run string) (*Registry, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Registry{listener: l, secret: rand.Text()}
	mux := http.NewServeMux()
	mux.Handle("/", r.guard(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	mux.HandleFunc(runPath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, run) })
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

// secretHeader is by which the registry knows the run's own requests.
const secretHeader = "X-Criconformance-Secret"

// guard lets anybody read and nobody but the run write: other users of the machine could otherwise have the runtime run
// an image of theirs.
func (r *Registry) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		reads := req.Method == http.MethodGet || req.Method == http.MethodHead
		if !reads && subtle.ConstantTimeCompare([]byte(req.Header.Get(secretHeader)), []byte(r.secret)) != 1 {
			http.Error(w, "this registry is somebody else's", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// Store puts the images into the registry, at the path below Repository, and returns the repository that they are in.
func (r *Registry) Store(ctx context.Context, path string, set []Named) (repository string, err error) {
	repository = r.Repository() + "/" + path
	return repository, push(ctx, repository, set, withSecret{&http.Transport{DisableKeepAlives: true}, r.secret})
}

// withSecret shows the secret with every request.
type withSecret struct {
	next   http.RoundTripper
	secret string
}

func (t withSecret) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set(secretHeader, t.secret)
	return t.next.RoundTrip(req)
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
	return push(ctx, repository, set, &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment})
}

func push(ctx context.Context, repository string, set []Named, transport http.RoundTripper) error {
	for _, n := range set {
		ref, err := name.ParseReference(repository + ":" + n.Tag)
		if err != nil {
			return err
		}
		err = remote.Write(ref, n.Image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithTransport(transport))
		if err != nil {
			return fmt.Errorf("push %s: %w", ref, err)
		}
	}
	return nil
}
