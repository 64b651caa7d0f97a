//go:build unix

package restconfig_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// policyLab is a server that plugins log in to, with a plugin on PATH and another of the same name that is not.
type policyLab struct {
	config         rest.Config
	plugin, shadow *loginlab.Plugin
}

func newPolicyLab(t *testing.T) *policyLab {
	t.Helper()
	authority := loginlab.NewAuthority(t)
	server := authority.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	l := &policyLab{plugin: loginlab.NewPlugin(t, ""), shadow: loginlab.NewPlugin(t, "")}
	l.plugin.Status("t", "", "", time.Time{})
	l.shadow.Status("t", "", "", time.Time{})
	t.Setenv("PATH", filepath.Dir(l.plugin.Path)+":/usr/bin:/bin")
	l.config = rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority.PEM}}
	return l
}

// with returns the configuration of a command under a policy. The marker keeps client-go's cache from mixing up rows.
func (l *policyLab) with(command string, policy clientcmdapi.PluginPolicy, marker string) *rest.Config {
	config := l.config
	config.ExecProvider = &clientcmdapi.ExecConfig{
		Command: command, Args: []string{marker}, APIVersion: execcredential.V1, InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode,
		PluginPolicy: policy,
	}
	return &config
}

// outcome is whether a client logs in, and how often plugins ran for that.
func (l *policyLab) outcome(client *http.Client, err error) string {
	before := l.plugin.Runs() + l.shadow.Runs()
	if err == nil {
		var response *http.Response
		if response, err = client.Get(l.config.Host); err == nil {
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				err = errors.New(response.Status)
			}
		}
	}
	return fmt.Sprintf("logged in %t, %d runs", err == nil, l.plugin.Runs()+l.shadow.Runs()-before)
}

func (l *policyLab) ours(t *testing.T, config *rest.Config) string {
	t.Helper()
	pool, err := transport.NewPool(transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	wrapped, source, err := restconfig.Wrap(config, pool)
	if err != nil {
		return l.outcome(nil, err)
	}
	if source != nil {
		defer source.Close()
	}
	return l.outcome(rest.HTTPClientFor(wrapped))
}

// policyRow is a command under a policy.
type policyRow struct {
	name    string
	command string
	policy  clientcmdapi.PluginPolicy
}

// clientGoRows is the shape of client-go's own table: does the plugin exist, does the entry, are they paths or names,
// how many entries, which policy.
func (l *policyLab) clientGoRows() []policyRow {
	pick := func(exists, absolute bool, missing string) string {
		switch {
		case exists && absolute:
			return l.plugin.Path
		case exists:
			return filepath.Base(l.plugin.Path)
		case absolute:
			return "/nonexistent/" + missing
		}
		return missing
	}
	var rows []policyRow
	bools := []bool{false, true}
	for _, pluginExists := range bools {
		for _, entryExists := range bools {
			for _, pluginPath := range bools {
				for _, entryPath := range bools {
					for _, length := range []int{-1, 0, 1, 3} {
						for _, kind := range []clientcmdapi.PolicyType{"", "AllowAll", "DenyAll", "Allowlist", "Unheard"} {
							entry := pick(entryExists, entryPath, "missing entry")
							rows = append(rows, policyRow{
								fmt.Sprintf("policy %q, %d entries, plugin there %t by path %t, entry there %t by path %t", kind, length, pluginExists, pluginPath, entryExists, entryPath),
								pick(pluginExists, pluginPath, "missing plugin"),
								clientcmdapi.PluginPolicy{PolicyType: kind, Allowlist: entries(length, entry)},
							})
						}
					}
				}
			}
		}
	}
	return rows
}

// entries returns a list of some length with one entry last; nil for a negative length.
func entries(length int, last string) []clientcmdapi.AllowlistEntry {
	if length < 0 {
		return nil
	}
	list := make([]clientcmdapi.AllowlistEntry, 0, length)
	for i := range length - 1 {
		list = append(list, clientcmdapi.AllowlistEntry{Command: fmt.Sprintf("filler-%d", i)})
	}
	if length > 0 {
		list = append(list, clientcmdapi.AllowlistEntry{Command: last})
	}
	return list
}

// awkwardRows are spellings that client-go's table does not have.
func (l *policyLab) awkwardRows() []policyRow {
	dir, name := filepath.Split(l.plugin.Path)
	commands := map[string]string{
		"name": name, "path": l.plugin.Path, "shadow": l.shadow.Path, "unclean path": dir + "./" + name, "doubled separator": dir + "/" + name,
		"path through the parent": dir + "x/../" + name, "dotted name": "./" + name, "directory": dir, "empty": "",
	}
	lists := map[string][]string{
		"name": {name}, "path": {l.plugin.Path}, "shadow": {l.shadow.Path}, "name and shadow": {name, l.shadow.Path},
		"unclean": {dir + "./" + name}, "dotted": {"./" + name}, "empty entry": {""}, "name and empty entry": {name, ""},
		"directory": {filepath.Clean(dir)}, "prefix": {l.plugin.Path[:len(l.plugin.Path)-1]}, "pattern": {filepath.Clean(dir) + "/*"},
	}
	var rows []policyRow
	for command, spelled := range commands {
		for list, names := range lists {
			policy := clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowlist}
			for _, name := range names {
				policy.Allowlist = append(policy.Allowlist, clientcmdapi.AllowlistEntry{Command: name})
			}
			rows = append(rows, policyRow{"command by " + command + ", list by " + list, spelled, policy})
		}
	}
	return rows
}

func TestPluginPolicy(t *testing.T) {
	l := newPolicyLab(t)
	for table, rows := range map[string][]policyRow{"client-go's table": l.clientGoRows(), "other spellings": l.awkwardRows()} {
		t.Run("ECR-29 ECR-21 "+table+": through Wrap every row ends as with client-go", func(t *testing.T) {
			wrong, ran := 0, 0
			for i, row := range rows {
				config := l.with(row.command, row.policy, fmt.Sprint(table, i))
				want := l.outcome(rest.HTTPClientFor(config))
				if got := l.ours(t, config); got != want {
					wrong++
					t.Errorf("%s: %s, want %s", row.name, got, want)
				}
				if want == "logged in true, 1 runs" {
					ran++
				}
			}
			t.Logf("%d rows, %d wrong; in %d the plugin runs", len(rows), wrong, ran)
			if ran == 0 || ran == len(rows) {
				t.Errorf("the plugin runs in %d of %d rows: the table decides nothing", ran, len(rows))
			}
		})
	}
	t.Run("ECR-29 ECR-21 the pool's policy counts beside the configuration's", func(t *testing.T) {
		pool, err := transport.NewPool(transport.Options{Policy: execcredential.Policy{Type: execcredential.PolicyDenyAll}})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		policy := clientcmdapi.PluginPolicy{PolicyType: "Allowlist", Allowlist: entries(1, l.plugin.Path)}
		wrapped, source, err := restconfig.Wrap(l.with(l.plugin.Path, policy, "pool"), pool)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		if got, want := l.outcome(rest.HTTPClientFor(wrapped)), "logged in false, 0 runs"; got != want {
			t.Errorf("outcome = %s, want %s", got, want)
		}
	})
	t.Run("ECR-29 ECR-21 a half-set policy is refused beside a static credential too, as with client-go", func(t *testing.T) {
		config := l.with(l.plugin.Path, clientcmdapi.PluginPolicy{PolicyType: "Allowlist"}, "static")
		config.BearerToken = "t"
		if _, err := rest.HTTPClientFor(config); err == nil {
			t.Fatal("client-go takes it")
		}
		if got, want := l.ours(t, config), "logged in false, 0 runs"; got != want {
			t.Errorf("outcome = %s, want %s", got, want)
		}
	})
	// What client-go does not take for a static credential must not come back with the plugin still in it, for
	// client-go to run past the pool.
	halves := map[string]func(*rest.Config){
		"a password without a name":     func(c *rest.Config) { c.Password = "p" },
		"a certificate without a key":   func(c *rest.Config) { c.CertFile = "/nonexistent/cert" },
		"a certificate, but no key":     func(c *rest.Config) { c.CertData = []byte("c") },
		"a static token":                func(c *rest.Config) { c.BearerToken = "s" },
		"a static name and no password": func(c *rest.Config) { c.Username = "u" },
	}
	for name, change := range halves {
		t.Run("ECR-29 ECR-21 client-go never runs the plugin past the pool: "+name, func(t *testing.T) {
			pool, err := transport.NewPool(transport.Options{Policy: execcredential.Policy{Type: execcredential.PolicyDenyAll}})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			config := l.with(l.plugin.Path, clientcmdapi.PluginPolicy{}, name)
			change(config)
			wrapped, source, err := restconfig.Wrap(config, pool)
			if err == nil {
				if source != nil {
					defer source.Close()
				}
				if got, want := l.outcome(rest.HTTPClientFor(wrapped)), "logged in false, 0 runs"; got != want {
					t.Errorf("outcome = %s, want %s", got, want)
				}
			}
			if wrapped != nil && wrapped.ExecProvider != nil {
				t.Error("the plugin is still in the configuration")
			}
		})
	}
}
