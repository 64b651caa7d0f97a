//go:build linux

package node

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// handler serves metrics and status.
//
//	/metrics  for Prometheus
//	/status   a Status, in JSON
//	/healthz  200 while the daemon works
//	/readyz   200 once the journal takes records, and the Lease was renewed
func (b *board) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(b.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(b.Status()) // nobody is left to be told
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch s := b.Status(); {
		case s.JournalError != "":
			http.Error(w, "journal: "+s.JournalError, http.StatusServiceUnavailable)
		case s.Lease != "" && s.Renewed == nil:
			http.Error(w, "lease: not renewed yet: "+s.LeaseError, http.StatusServiceUnavailable)
		}
	})
	return mux
}

// serve answers until the context ends.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
