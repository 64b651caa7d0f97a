package apiserver

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/legacyregistry"

	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// metrics are those of one server; what k8s.io/apiserver counts for the whole process is shown beside them.
type metrics struct {
	own      *prometheus.Registry
	injected *prometheus.CounterVec
}

var _ execapi.Recorder = (*metrics)(nil)

func newMetrics(gate featuregate.MutableVersionedFeatureGate) *metrics {
	m := &metrics{own: prometheus.NewRegistry(), injected: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: execapi.InjectedMetric,
		Help: "Exec requests by what became of their audit ID.",
	}, []string{execapi.ResultLabel})}
	for _, result := range []execapi.Result{execapi.ResultInjected, execapi.ResultPlaceholder, execapi.ResultSkipped} {
		m.injected.WithLabelValues(string(result)) // shown from the start, at zero
	}
	enabled := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubernetes_feature_enabled",
		Help: "1 while a feature gate is on, 0 while it is off.",
	}, []string{"name", "stage"})
	for name, spec := range gate.GetAll() {
		enabled.WithLabelValues(string(name), string(spec.PreRelease)).Set(number(gate.Enabled(name)))
	}
	m.own.MustRegister(m.injected, enabled)
	return m
}

func number(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// AuditIDInjected implements execapi.Recorder.
func (m *metrics) AuditIDInjected(result execapi.Result) {
	m.injected.WithLabelValues(string(result)).Inc()
}

// handler serves both registries.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{m.own, legacyregistry.DefaultGatherer}, promhttp.HandlerOpts{})
}
