package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lanyard-dev/lanyard/credprovider/provider"
)

// Credentials is the Prometheus side of the credential providers' recorder.
type Credentials struct {
	errors   *prometheus.CounterVec
	duration *prometheus.HistogramVec
	config   *prometheus.GaugeVec
}

var _ provider.Recorder = (*Credentials)(nil)

// NewCredentials returns a recorder whose collectors are not registered yet.
func NewCredentials() *Credentials {
	plugin := []string{"plugin_name"}
	return &Credentials{
		errors:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kubelet_credential_provider_plugin_errors_total", Help: "Credential provider plugins that failed, by plugin."}, plugin),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "kubelet_credential_provider_plugin_duration", Help: "Seconds that credential provider plugins ran, by plugin."}, plugin),
		config:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kubelet_credential_provider_config_info", Help: "The hash of the credential providers' configuration."}, []string{"hash"}),
	}
}

// Collectors are the metrics, for [Kubelet.Register].
func (c *Credentials) Collectors() []prometheus.Collector {
	return []prometheus.Collector{c.errors, c.duration, c.config}
}

// PluginError counts a process that failed.
func (c *Credentials) PluginError(name string) { c.errors.WithLabelValues(name).Inc() }

// PluginDuration observes how long a process ran.
func (c *Credentials) PluginDuration(name string, d time.Duration) {
	c.duration.WithLabelValues(name).Observe(d.Seconds())
}

// ConfigInfo shows the hash of the configuration in use.
func (c *Credentials) ConfigInfo(hash string) { c.config.WithLabelValues(hash).Set(1) }
