// Package metrics is the Prometheus side of the kubelet's recorders, by the names
// that the KEPs and Kubernetes give them.
package metrics

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/featuregate"

	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
	"github.com/lanyard-dev/lanyard/supgroups/admission"
)

// Kubelet holds the counters of one kubelet, in a registry of its own: tests run
// several in one process.
type Kubelet struct {
	registry    *prometheus.Registry
	unsupported prometheus.Counter
	rejections  *prometheus.CounterVec
	events      record.EventRecorder
}

// Sources are what the gauges read when they are asked.
type Sources struct {
	Desired func() int // pods that the API server binds to the node
	Running func() int // pods with a running container
	Gates   featuregate.MutableVersionedFeatureGate
	Events  record.EventRecorder
}

// New registers the metrics of a kubelet.
func New(s Sources) *Kubelet {
	k := &Kubelet{
		registry:    prometheus.NewRegistry(),
		unsupported: prometheus.NewCounter(prometheus.CounterOpts{Name: negotiate.UnsupportedMetric, Help: "Exec sessions whose environment the container runtime does not inject."}),
		rejections:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: admission.MetricName, Help: "Pods that the kubelet did not take, by reason."}, []string{admission.MetricLabel}),
		events:      s.Events,
	}
	k.registry.MustRegister(
		k.unsupported, k.rejections, features(s.Gates),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kubelet_desired_pods", Help: "Pods bound to the node, rejected ones included."}, func() float64 { return float64(s.Desired()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kubelet_running_pods", Help: "Pods with a running container."}, func() float64 { return float64(s.Running()) }),
	)
	return k
}

// features is kubernetes_feature_enabled: one gauge per gate, 1 for on.
func features(gates featuregate.MutableVersionedFeatureGate) prometheus.Collector {
	enabled := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kubernetes_feature_enabled", Help: "Whether a feature gate is on, by name and stage."}, []string{"name", "stage"})
	for name, spec := range gates.GetAll() {
		on := 0.0
		if gates.Enabled(name) {
			on = 1
		}
		enabled.WithLabelValues(string(name), string(spec.PreRelease)).Set(on)
	}
	return enabled
}

// Register adds further collectors, such as the credential provider's.
func (k *Kubelet) Register(more ...prometheus.Collector) { k.registry.MustRegister(more...) }

// Handler answers /metrics.
func (k *Kubelet) Handler() http.Handler {
	return promhttp.HandlerFor(k.registry, promhttp.HandlerOpts{})
}

// Rejected counts a pod that was not taken.
func (k *Kubelet) Rejected(reason string) { k.rejections.WithLabelValues(reason).Inc() }

// ExecEnvsUnsupported counts an exec session that loses its environment.
func (k *Kubelet) ExecEnvsUnsupported() { k.unsupported.Inc() }

// Event records that a pod's exec sessions lose their environment.
func (k *Kubelet) Event(_ context.Context, pod negotiate.Pod, message string) {
	k.events.Event(&corev1.ObjectReference{
		Kind: "Pod", APIVersion: "v1", Namespace: pod.Namespace, Name: pod.Name, UID: types.UID(pod.UID),
	}, corev1.EventTypeWarning, negotiate.EventReason, message)
}
