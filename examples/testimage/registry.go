package testimage

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const architecture = runtime.GOARCH

// Registry is a registry in this process, on loopback, over plain HTTP.
type Registry struct {
	http.Handler // the registry itself, for another server in front of it
	server       *httptest.Server
}

// NewRegistry starts a registry; each of the wrappers, the first innermost, may change how it answers. Close it when
// done.
func NewRegistry(wrappers ...func(http.Handler) http.Handler) *Registry {
	h := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	for _, wrap := range wrappers {
		h = wrap(h)
	}
	return &Registry{h, httptest.NewServer(h)}
}

// Close ends the registry and its connections.
func (r *Registry) Close() {
	r.server.CloseClientConnections()
	r.server.Close()
}

// Host is the registry's name in references, such as "localhost:34567". By that name, unlike by number, every runtime
// speaks plain HTTP to it.
func (r *Registry) Host() string {
	return "localhost:" + r.server.URL[strings.LastIndexByte(r.server.URL, ':')+1:]
}

// Push stores the image under repository:tag, such as "app:v1", and returns its full reference.
func (r *Registry) Push(repositoryTag string, i v1.Image) (string, error) {
	ref, err := name.ParseReference(r.Host() + "/" + repositoryTag)
	if err != nil {
		return "", err
	}
	return ref.Name(), remote.Write(ref, i, remote.WithTransport(&http.Transport{DisableKeepAlives: true}))
}
