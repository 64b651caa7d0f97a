//go:build unix

package transport_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

func TestProactiveRefresh(t *testing.T) {
	t.Run("ECR-20 a refresh comes in the last 1% of the lifetime, with no caller waiting", func(t *testing.T) {
		pool := newPool(t, transport.Options{Proactive: true})
		plugin := loginlab.NewPlugin(t, "")
		const life = 3 * time.Second
		received := time.Now()
		plugin.Status("one", "", "", received.Add(life))
		source := newSource(t, pool, plugin.Config())
		if _, err := source.Credential(t.Context()); err != nil {
			t.Fatal(err)
		}
		plugin.Status("two", "", "", time.Time{})
		eventually(t, "second run without a request", func() bool { return plugin.Runs() == 2 })
		if age := time.Since(received); age < life-life/100 {
			t.Errorf("refreshed after %v, want not before %v", age, life-life/100)
		}
		eventually(t, "new token", func() bool {
			credential, err := source.Credential(t.Context())
			return err == nil && credential.Token().Reveal() == "two"
		})
		if plugin.Runs() != 2 {
			t.Errorf("runs = %d, want 2", plugin.Runs())
		}
	})
	t.Run("ECR-20 a certificate counts from NotBefore, so an old one is refreshed early in its rest", func(t *testing.T) {
		pool := newPool(t, transport.Options{Proactive: true, Backoff: transport.Backoff{Base: time.Millisecond}})
		plugin := loginlab.NewPlugin(t, "")
		certificate, key := loginlab.NewAuthority(t).Client(t, "u", time.Now().Add(-99*time.Hour), 100*time.Hour)
		plugin.Status("", certificate, key, time.Now().Add(10*time.Minute))
		if _, err := newSource(t, pool, plugin.Config()).Credential(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "refresh in the last 1%", func() bool { return plugin.Runs() >= 2 })
	})
	t.Run("ECR-20 a failed refresh is tried again while the credential is valid", func(t *testing.T) {
		pool := newPool(t, transport.Options{Proactive: true, Backoff: transport.Backoff{Base: time.Millisecond, Max: 10 * time.Millisecond}})
		plugin := loginlab.NewPlugin(t, `[ "$(wc -l <"$LAB/runs")" != 2 ] || exit 1`)
		plugin.Status("t", "", "", time.Now().Add(time.Second))
		if _, err := newSource(t, pool, plugin.Config()).Credential(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "third run", func() bool { return plugin.Runs() >= 3 })
	})
}
