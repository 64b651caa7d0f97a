package apiserver

import (
	"context"
	"fmt"
	"net"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/lanyard-dev/lanyard/examples/apiserver/connect"
	"github.com/lanyard-dev/lanyard/examples/apiserver/registry"
)

// What a shutdown may take at most; together they stay below ten seconds.
const (
	// DrainWatches is how long watches have to end by themselves.
	DrainWatches = 2 * time.Second
	// DrainRequests is how long open requests have after that.
	DrainRequests = 5 * time.Second
)

// Server is one API server.
type Server struct {
	generic  *genericapiserver.GenericAPIServer
	kubelets *connect.Kubelets
	registry *registry.Registry
	address  net.Addr
}

// New builds a server that listens already and answers as soon as [Server.Run] runs. On an error the listener is
// closed.
func New(o Options) (*Server, error) {
	if o.Listener == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		o.Listener = listener
	}
	server, err := build(o)
	if err != nil {
		_ = o.Listener.Close()
		return nil, fmt.Errorf("api server: %w", err)
	}
	return server, nil
}

// URL returns the address of the server as https://HOST:PORT.
func (s *Server) URL() string { return "https://" + s.address.String() }

// Sessions returns how many connections to kubelets are open, those kept for reuse included.
func (s *Server) Sessions() int { return s.kubelets.Open() }

// Run serves until ctx ends, then stops within [DrainWatches] plus [DrainRequests]: sessions end with an error at once,
// watches and requests are given their time, the audit log is flushed. It can be called once.
func (s *Server) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.kubelets.Close)
	defer stop()
	defer s.registry.Destroy()
	return s.generic.PrepareRun().RunWithContext(ctx)
}
