//go:build unix

package transport_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// recorder keeps what was recorded.
type recorder struct {
	mu     sync.Mutex
	calls  []string
	ages   []time.Duration
	expiry *time.Time
}

func (r *recorder) Increment(code int, status string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprint(code, " ", status))
}

func (r *recorder) Observe(age time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ages = append(r.ages, age)
}

func (r *recorder) Set(expiry *time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expiry = expiry
}

func TestCallMetric(t *testing.T) {
	cases := []struct{ name, body, answer, want string }{
		{"success", "", loginlab.Answer("client.authentication.k8s.io/v1", "t", "", "", time.Time{}), "0 no_error"},
		{"exit code", "exit 7", "", "7 plugin_execution_error"},
		{"signal", "kill -9 $$", "", "-1 plugin_execution_error"},
		{"time limit", "exec sleep 1000", "", "-1 plugin_execution_error"},
		{"flood", "exec cat /dev/zero", "", "-1 plugin_execution_error"},
		{"answer that no client can use, which is not code 0", "", "nonsense", "1 client_internal_error"},
	}
	for _, c := range cases {
		t.Run("ECR-14 KEP-541 unit: metrics are reported as they should: "+c.name, func(t *testing.T) {
			r := &recorder{}
			plugin := loginlab.NewPlugin(t, c.body)
			plugin.Answer(c.answer)
			pool := newPool(t, transport.Options{Timeout: time.Second, Metrics: transport.Metrics{Calls: r}})
			_, _ = newSource(t, pool, plugin.Config()).Credential(t.Context())
			if !slices.Equal(r.calls, []string{c.want}) {
				t.Errorf("calls = %q, want %q", r.calls, c.want)
			}
		})
	}
	t.Run("ECR-14 a plugin that is missing", func(t *testing.T) {
		r := &recorder{}
		config := loginlab.NewPlugin(t, "").Config()
		config.Command = "/nonexistent/plugin"
		_, _ = newSource(t, newPool(t, transport.Options{Metrics: transport.Metrics{Calls: r}}), config).Credential(t.Context())
		if !slices.Equal(r.calls, []string{"1 plugin_not_found_error"}) {
			t.Errorf("calls = %q, want 1 plugin_not_found_error", r.calls)
		}
	})
}

func TestCertificateMetrics(t *testing.T) {
	r := &recorder{}
	now := newClock()
	pool := newPool(t, transport.Options{Now: now.Now, Metrics: transport.Metrics{CertificateExpiry: r, RotationAge: r, Calls: r}})
	authority := loginlab.NewAuthority(t)
	issue := func(plugin *loginlab.Plugin, age, life time.Duration) time.Time {
		notBefore := now.Now().Add(-age).Truncate(time.Second)
		certificate, key := authority.Client(t, "u", notBefore, life)
		plugin.Status("", certificate, key, now.Now().Add(time.Minute))
		return notBefore
	}
	long, short := loginlab.NewPlugin(t, ""), loginlab.NewPlugin(t, "")
	longBegin, shortBegin := issue(long, time.Hour, 10*time.Hour), issue(short, time.Hour, 5*time.Hour)
	longSource, shortSource := newSource(t, pool, long.Config()), newSource(t, pool, short.Config())
	for _, source := range []*transport.Source{longSource, shortSource} {
		if _, err := source.Credential(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("ECR-14 the expiry is the minimum over all certificates", func(t *testing.T) {
		if want := shortBegin.Add(5 * time.Hour); r.expiry == nil || !r.expiry.Equal(want) {
			t.Errorf("expiry = %v, want %v", r.expiry, want)
		}
	})
	t.Run("ECR-14 the rotation age is the replaced certificate's, since NotBefore", func(t *testing.T) {
		now.Advance(2 * time.Minute)
		issue(short, 0, 20*time.Hour)
		if _, err := shortSource.Credential(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := now.Now().Sub(shortBegin); len(r.ages) != 1 || r.ages[0] != want {
			t.Errorf("ages = %v, want %v", r.ages, want)
		}
		if want := longBegin.Add(10 * time.Hour); r.expiry == nil || !r.expiry.Equal(want) {
			t.Errorf("expiry = %v, want the other certificate's, %v", r.expiry, want)
		}
	})
	t.Run("ECR-14 without a certificate the expiry is nil", func(t *testing.T) {
		pool.Close()
		if r.expiry != nil {
			t.Errorf("expiry = %v, want nil", r.expiry)
		}
	})
	t.Run("ECR-14 the gauge is +Inf without a certificate and negative after its end", func(t *testing.T) {
		past := now.Now().Add(-time.Minute)
		if got := transport.TTLSeconds(nil, now.Now()); !math.IsInf(got, 1) {
			t.Errorf("TTLSeconds(nil) = %v, want +Inf", got)
		}
		if got := transport.TTLSeconds(&past, now.Now()); got != -60 {
			t.Errorf("TTLSeconds(a minute ago) = %v, want -60", got)
		}
	})
	t.Run("ECR-14 the names, and the KEP's eleven buckets", func(t *testing.T) {
		want := []float64{600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000}
		if got := transport.RotationAgeBuckets(); !slices.Equal(got, want) {
			t.Errorf("RotationAgeBuckets = %v, want %v", got, want)
		}
		names := []string{transport.MetricTTL, transport.MetricRotationAge, transport.MetricCalls}
		if want := []string{"rest_client_exec_plugin_ttl_seconds", "rest_client_exec_plugin_certificate_rotation_age", "rest_client_exec_plugin_call_total"}; !slices.Equal(names, want) {
			t.Errorf("names = %q, want %q", names, want)
		}
	})
}
