//go:build unix

package transport_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestPolicyOfAConfiguration(t *testing.T) {
	list := func(commands ...string) execcredential.Policy {
		return execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: commands}
	}
	deny := execcredential.Policy{Type: execcredential.PolicyDenyAll}
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	cases := []struct {
		name       string
		pool, own  execcredential.Policy
		permission bool
	}{
		{"none", execcredential.Policy{}, execcredential.Policy{}, true},
		{"the configuration denies", execcredential.Policy{}, deny, false},
		{"the configuration lists another", execcredential.Policy{}, list("other"), false},
		{"the configuration lists it", execcredential.Policy{}, list(plugin.Path), true},
		{"the pool denies what the configuration lists", deny, list(plugin.Path), false},
		{"the pool lists another than the configuration", list("other"), list(plugin.Path), false},
		{"both list it", list(plugin.Path), list(plugin.Path, "x"), true},
	}
	for _, c := range cases {
		t.Run("ECR-21 ECR-29 "+c.name, func(t *testing.T) {
			config, before := plugin.Config(), plugin.Runs()
			config.Policy = c.own
			_, err := newSource(t, newPool(t, transport.Options{Policy: c.pool}), config).Credential(t.Context())
			if c.permission != (err == nil) || !c.permission && !errors.Is(err, execcredential.ErrNotPermitted) || (plugin.Runs() > before) != c.permission {
				t.Errorf("Credential = %v, %d runs, want permission %t", err, plugin.Runs()-before, c.permission)
			}
		})
	}
	t.Run("ECR-21 a half-set policy of a configuration is refused", func(t *testing.T) {
		config := plugin.Config()
		config.Policy = execcredential.Policy{Type: execcredential.PolicyAllowlist}
		var field *execcredential.FieldError
		if _, err := newPool(t, transport.Options{}).Source(config, nil); !errors.As(err, &field) {
			t.Errorf("Source = %v, want *FieldError", err)
		}
	})
	t.Run("ECR-21 a list that the caller changes later permits no more", func(t *testing.T) {
		config := plugin.Config()
		config.Policy = list("other")
		source := newSource(t, newPool(t, transport.Options{}), config)
		config.Policy.Commands[0] = plugin.Path
		if _, err := source.Credential(t.Context()); !errors.Is(err, execcredential.ErrNotPermitted) {
			t.Errorf("Credential = %v, want ErrNotPermitted", err)
		}
	})
}

// TestDifferentConfigurationsShareNothing holds that no field of a configuration is forgotten where a pool decides
// which are equal: a denied configuration would use the credential of a permitted one.
func TestDifferentConfigurationsShareNothing(t *testing.T) {
	plugin := loginlab.NewPlugin(t, "")
	plugin.Status("t", "", "", time.Time{})
	changes := map[string]func(*execcredential.ExecConfig){
		"Command": func(c *execcredential.ExecConfig) {
			c.Command = filepath.Dir(c.Command) + "/./" + filepath.Base(c.Command)
		},
		"Args": func(c *execcredential.ExecConfig) { c.Args = redact.Texts("x") },
		"Env": func(c *execcredential.ExecConfig) {
			c.Env = []execcredential.EnvVar{{Name: "N", Value: redact.New("v")}}
		},
		"APIVersion":              func(c *execcredential.ExecConfig) { c.APIVersion = execcredential.V1Beta1 },
		"InstallHint":             func(c *execcredential.ExecConfig) { c.InstallHint = "x" },
		"ProvideClusterInfo":      func(c *execcredential.ExecConfig) { c.ProvideClusterInfo = true },
		"InteractiveMode":         func(c *execcredential.ExecConfig) { c.InteractiveMode = execcredential.InteractiveIfAvailable },
		"Policy":                  func(c *execcredential.ExecConfig) { c.Policy.Type = execcredential.PolicyDenyAll },
		"StdinUnavailable":        func(c *execcredential.ExecConfig) { c.StdinUnavailable = true },
		"StdinUnavailableMessage": func(c *execcredential.ExecConfig) { c.StdinUnavailableMessage = "x" },
		"Impersonate":             nil, // the plugin is not told
	}
	fields := reflect.TypeFor[execcredential.ExecConfig]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		t.Run("ECR-10 ECR-29 "+name, func(t *testing.T) {
			change, known := changes[name]
			if !known {
				t.Fatalf("field %s is new: say whether configurations that differ in it may share a credential", name)
			}
			if change == nil {
				return // its own test holds that it is shared
			}
			pool := newPool(t, transport.Options{})
			if _, err := newSource(t, pool, plugin.Config()).Credential(t.Context()); err != nil {
				t.Fatal(err)
			}
			config, before := plugin.Config(), plugin.Runs()
			change(&config)
			_, err := newSource(t, pool, config).Credential(t.Context())
			if err == nil && plugin.Runs() == before {
				t.Errorf("a configuration with another %s got the credential of the first without a run", name)
			}
		})
	}
}
