package provider_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/configfile"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/redact"
)

// world is a node: service accounts, a token source, a clock and a plugin directory.
type world struct {
	t      *testing.T
	dir    string
	config credprovider.Config

	mu        sync.Mutex
	now       time.Time
	accounts  map[string]credprovider.ServiceAccount
	requests  []provider.TokenRequest
	life      time.Duration
	tokenErr  error
	errors    map[string]int
	durations map[string]int
	hashes    []string
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, dir: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), life: time.Hour,
		accounts: map[string]credprovider.ServiceAccount{}, errors: map[string]int{}, durations: map[string]int{},
	}
}

func (w *world) Now() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }

func (w *world) pass(d time.Duration) { w.mu.Lock(); defer w.mu.Unlock(); w.now = w.now.Add(d) }

var errNotFound = errors.New("not found")

func (w *world) ServiceAccount(_ context.Context, namespace, name string) (credprovider.ServiceAccount, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	account, ok := w.accounts[namespace+"/"+name]
	if !ok {
		return account, errNotFound
	}
	return account, nil
}

func (w *world) account(namespace, name string, annotations map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.accounts[namespace+"/"+name] = credprovider.ServiceAccount{Namespace: namespace, Name: name, UID: "uid-" + name, Annotations: annotations}
}

// Token mints a token that names everything it was asked for.
func (w *world) Token(_ context.Context, r provider.TokenRequest) (provider.Token, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r)
	if w.tokenErr != nil {
		return provider.Token{}, w.tokenErr
	}
	text := fmt.Sprintf("secret-token for %+v no. %d", r, len(w.requests))
	return provider.Token{Value: redact.New(text), Expires: w.now.Add(w.life)}, nil
}

func (w *world) minted() []provider.TokenRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]provider.TokenRequest(nil), w.requests...)
}

func (w *world) PluginError(name string) { w.mu.Lock(); defer w.mu.Unlock(); w.errors[name]++ }

func (w *world) PluginDuration(name string, _ time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.durations[name]++
}

func (w *world) ConfigInfo(hash string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hashes = append(w.hashes, hash)
}

// provide adds a provider whose binary is the test plugin, or a shell script when one is given, and returns it for
// changes.
func (w *world) provide(name, match, script string, env ...string) *credprovider.Provider {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	var err error
	if script == "" {
		err = os.Symlink(exchange, path)
	} else {
		err = os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	p := credprovider.Provider{
		Name: name, MatchImages: []string{match}, APIVersion: credprovider.V1, DefaultCacheDuration: credprovider.NewDuration(10 * time.Minute),
		Env: []credprovider.EnvVar{{Name: "RUNS", Value: redact.New(w.runsFile())}},
	}
	for i := 0; i < len(env); i += 2 {
		p.Env = append(p.Env, credprovider.EnvVar{Name: env[i], Value: redact.New(env[i+1])})
	}
	w.config.Providers = append(w.config.Providers, p)
	return &w.config.Providers[len(w.config.Providers)-1]
}

// withToken makes a provider act for the workload.
func withToken(p *credprovider.Provider, cacheType credprovider.TokenCacheType, required bool) *credprovider.TokenAttributes {
	p.TokenAttributes = &credprovider.TokenAttributes{ServiceAccountTokenAudience: "aud-" + p.Name, CacheType: cacheType, RequireServiceAccount: &required}
	return p.TokenAttributes
}

func (w *world) options() provider.Options {
	return provider.Options{
		Gates: credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}, Accounts: w, Tokens: w, Now: w.Now, Recorder: w,
	}
}

// open writes the configuration and opens a pool as a kubelet does at its start.
func (w *world) open() *provider.Pool {
	w.t.Helper()
	pool, err := provider.Open(w.configFile(), w.dir, w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	return pool
}

func (w *world) configFile() string {
	w.t.Helper()
	w.config.Kind, w.config.APIVersion = credprovider.ConfigKind, credprovider.ConfigV1
	data, err := configfile.Encode(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.t.TempDir(), "config.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) runsFile() string { return filepath.Join(w.dir, "runs.log") }

// runs returns a line for each run of a plugin.
func (w *world) runs() []string {
	data, err := os.ReadFile(w.runsFile())
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func pod(name, account string) provider.Pod {
	return provider.Pod{Namespace: "ns", Name: name, UID: "uid-" + name, ServiceAccount: account}
}

// must looks up and fails the test on an error.
func (w *world) must(pool *provider.Pool, image string, p provider.Pod) []credprovider.Credential {
	w.t.Helper()
	found, err := pool.Lookup(context.Background(), image, p)
	if err != nil {
		w.t.Fatalf("Lookup(%q) = %v", image, err)
	}
	return found
}
