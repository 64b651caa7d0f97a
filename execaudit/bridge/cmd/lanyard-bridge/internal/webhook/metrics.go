package webhook

import (
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
)

// metrics are what /metrics tells.
type metrics struct {
	registry    *prometheus.Registry
	reviews     *prometheus.CounterVec
	seconds     prometheus.Histogram
	strangers   *prometheus.CounterVec
	unrecorded  prometheus.Counter
	unreadable  *prometheus.CounterVec
	auditEvents prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lanyard_bridge_reviews_total", Help: "Reviews answered, by what was asked for and what was done.",
		}, []string{"source", "outcome", "allowed"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lanyard_bridge_review_seconds", Help: "Time from a review's arrival to its answer.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1, 3},
		}),
		strangers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lanyard_bridge_strangers_total", Help: "Requests of callers who may not call, by what they lacked.",
		}, []string{"lacked"}),
		unrecorded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lanyard_bridge_unrecorded_total", Help: "Sessions whose record could not be written.",
		}),
		unreadable: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lanyard_bridge_unreadable_total", Help: "Times that a changed file could not be used, and the one before stayed in use.",
		}, []string{"file"}),
		auditEvents: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lanyard_bridge_audit_events_total", Help: "Audit events with a session that were written down.",
		}),
	}
	m.registry.MustRegister(m.reviews, m.seconds, m.strangers, m.unrecorded, m.unreadable, m.auditEvents)
	return m
}

func (m *metrics) observe(o admission.Observation) {
	m.reviews.WithLabelValues(string(o.Source), string(o.Outcome), strconv.FormatBool(o.Allowed)).Inc()
	m.seconds.Observe(o.Elapsed.Seconds())
	if o.Unrecorded {
		m.unrecorded.Inc()
	}
}

func (m *metrics) stranger(lacked string) { m.strangers.WithLabelValues(lacked).Inc() }

// health is served beside the metrics.
func (m *metrics) handler(ready *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	return mux
}
