package e2e_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/login/metrics"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// measured reads a client's metrics as Prometheus does.
func (l *logins) measured(t *testing.T) {
	t.Run("ECR-14 STK-7 KEP-541 integration: metrics are reported as they should", func(t *testing.T) {
		recorder, registry, clock := metrics.New(), prometheus.NewPedanticRegistry(), &turned{}
		registry.MustRegister(recorder.Collectors()...)
		pool := newPool(t, transport.Options{Now: clock.now, Metrics: recorder.Recorders()})
		list := func(client *kubernetes.Clientset) error {
			_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{Limit: 1})
			return err
		}
		if got := sample(t, registry, transport.MetricTTL, ""); got < 1e300 {
			t.Errorf("%s = %v before a certificate, want +Inf", transport.MetricTTL, got)
		}
		client := wrapped(t, pool, configOf(t, l.user(t, "measured", login.Certificate, clock.lifetime(0))))
		if err := list(client); err != nil {
			t.Fatal(err)
		}
		// It lives for its 30 seconds and the minute for clocks that differ.
		if got := sample(t, registry, transport.MetricTTL, ""); got < 30 || got > 90 {
			t.Errorf("%s = %v, want up to 90", transport.MetricTTL, got)
		}
		l.addUser("measured", clock.lifetime(1))
		clock.turn()
		if err := list(client); err != nil {
			t.Fatal(err)
		}
		if got := sample(t, registry, transport.MetricRotationAge, ""); got != 1 {
			t.Errorf("%s counted %v rotations, want 1", transport.MetricRotationAge, got)
		}
		missing := wrapped(t, pool, configOf(t, l.user(t, "missing", login.Certificate, lasting, func(c *clientcmdapi.ExecConfig) { c.Command += "-absent" })))
		refused := wrapped(t, pool, configOf(t, l.user(t, "refused", login.Certificate, lasting, func(c *clientcmdapi.ExecConfig) { c.Env[0].Value = "wrong" })))
		for name, client := range map[string]*kubernetes.Clientset{"missing": missing, "refused": refused} {
			if list(client) == nil {
				t.Errorf("a request with the plugin %s worked", name)
			}
		}
		for status, want := range map[string]float64{
			transport.StatusNoError: 2, transport.StatusNotFound: 1, transport.StatusExecutionError: 1, transport.StatusInternalError: 0,
		} {
			if got := sample(t, registry, transport.MetricCalls, status); got != want {
				t.Errorf("%s{call_status=%q} = %v, want %v", transport.MetricCalls, status, got, want)
			}
		}
	})
}

// sample returns the value of a metric, the count of a histogram, for a status where
// it has one; 0 when there is none.
func sample(t *testing.T, registry *prometheus.Registry, name, status string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if labels := m.GetLabel(); family.GetName() != name || status != "" && (len(labels) == 0 || labels[0].GetValue() != status) {
				continue
			}
			return m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return 0
}
