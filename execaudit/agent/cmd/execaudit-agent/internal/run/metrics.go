//go:build linux

package run

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
)

// metrics serves what has no command in it.
//
//	/metrics  for Prometheus
//	/healthz  200 while the agent works
//	/readyz   200 while events can be written
func metrics(b *board.Board) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(b, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s := b.Status(); s.OutputError != "" {
			http.Error(w, "output: "+s.OutputError, http.StatusServiceUnavailable)
		}
	})
	return mux
}
