// Package metrics is the Prometheus side of what KEP-541 has clients measure.
package metrics

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// Client is the recorder of one pool.
type Client struct {
	expiry atomic.Pointer[time.Time]
	ttl    prometheus.GaugeFunc
	age    prometheus.Histogram
	calls  *prometheus.CounterVec
}

// New returns a recorder whose collectors are not registered yet.
func New() *Client {
	c := &Client{
		age: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: transport.MetricRotationAge, Help: "Age in seconds of client certificates when they were replaced.",
			Buckets: transport.RotationAgeBuckets(),
		}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: transport.MetricCalls, Help: "Runs of credential plugins, by exit code and outcome.",
		}, []string{"code", "call_status"}),
	}
	c.ttl = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: transport.MetricTTL, Help: "Seconds until the first client certificate expires, +Inf without one.",
	}, func() float64 { return transport.TTLSeconds(c.expiry.Load(), time.Now()) })
	return c
}

// Collectors are the three metrics.
func (c *Client) Collectors() []prometheus.Collector {
	return []prometheus.Collector{c.ttl, c.age, c.calls}
}

// Recorders are for [transport.Options].
func (c *Client) Recorders() transport.Metrics {
	return transport.Metrics{CertificateExpiry: expiry{c}, RotationAge: age{c}, Calls: calls{c}}
}

type expiry struct{ *Client }

// Set keeps the moment; the gauge is worked out when it is read.
func (e expiry) Set(at *time.Time) { e.expiry.Store(at) }

type age struct{ *Client }

// Observe counts a certificate that was replaced.
func (a age) Observe(d time.Duration) { a.age.Observe(d.Seconds()) }

type calls struct{ *Client }

// Increment counts a run.
func (c calls) Increment(code int, status string) {
	c.calls.WithLabelValues(strconv.Itoa(code), status).Inc()
}
