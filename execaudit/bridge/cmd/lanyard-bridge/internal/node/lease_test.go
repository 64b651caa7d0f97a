//go:build linux

package node

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// api keeps one Lease as the API server would.
type api struct {
	mu    sync.Mutex
	lease *coordinationv1.Lease
	away  bool
	calls []string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, r.Method)
	status := func(code int, reason metav1.StatusReason) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: reason, Code: int32(code)})
	}
	const leases = "/apis/coordination.k8s.io/v1/namespaces/lanyard-system/leases"
	sent := &coordinationv1.Lease{}
	if r.Method != http.MethodGet && json.NewDecoder(r.Body).Decode(sent) != nil {
		status(http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	switch {
	case a.away:
		status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
		return
	case r.Method == http.MethodPost && r.URL.Path == leases && a.lease == nil:
		sent.ResourceVersion = "1"
	case r.URL.Path != leases+"/lanyard-bridge-n1" || a.lease == nil:
		status(http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	case r.Method == http.MethodGet:
		sent = a.lease
	case r.Method == http.MethodPut && sent.ResourceVersion != a.lease.ResourceVersion:
		status(http.StatusConflict, metav1.StatusReasonConflict)
		return
	case r.Method == http.MethodPut:
		sent.ResourceVersion += "1"
	}
	a.lease = sent
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(sent)
}

func (a *api) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// host is a node with one handler under the wrapper.
func installedNode(t *testing.T) (Options, oci.Config) {
	t.Helper()
	o := options(t)
	key := token.NewKey()
	config := oci.Config{Runtime: "/usr/sbin/runc", Node: "n1", Keys: "/etc/lanyard/keys", Spool: "/state/spool", Mark: oci.MarkSessions}
	for path, text := range map[string]string{
		"/opt/lanyard/lanyard-oci": "wrapper", "/usr/sbin/runc": "runtime", "/etc/lanyard/keys": token.Keys{key.Public()}.Text(),
		"/opt/lanyard/lanyard-oci.json": string(config.Encode()), containerdFile: containerdText("/opt/lanyard/lanyard-oci"),
	} {
		must(t, os.MkdirAll(filepath.Dir(o.host(path)), 0o755))
		must(t, os.WriteFile(o.host(path), []byte(text), 0o755))
	}
	must(t, installed.State{Handlers: map[string]installed.Handler{"": {
		Mode: string(readiness.ModeDropIn), Since: time.Unix(1_700_000_000, 0).UTC(), Wrapper: "/opt/lanyard/lanyard-oci",
		Runtime: "/usr/sbin/runc", Config: "/opt/lanyard/lanyard-oci.json",
	}}}.Save(o.host("/state/"+installed.File)))
	recordInstallation(t, o, "drop-in", installation{
		Name: "runc", Handlers: []string{"", "runc"}, Wrapper: "/opt/lanyard/lanyard-oci", Executed: "/opt/lanyard/lanyard-oci",
	})
	return o, config
}

func newKeeper(t *testing.T, o Options) (*keeper, *api) {
	t.Helper()
	a := &api{}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	must(t, err)
	o.NoLease = false
	o = o.withDefaults()
	return &keeper{Options: o, status: newBoard(o), leases: clients.CoordinationV1().Leases(o.Namespace)}, a
}

func TestLease(t *testing.T) {
	ctx := context.Background()
	t.Run("BRG-13 the Lease says for which handlers the wrapper is ready", func(t *testing.T) {
		o, _ := installedNode(t)
		at := time.Now().UTC().Truncate(time.Microsecond)
		o.now = func() time.Time { return at }
		k, a := newKeeper(t, o)
		k.tick(ctx)
		ready, err := readiness.Parse(a.lease.Annotations)
		must(t, err)
		keys, err := k.keys(oci.Config{Keys: "/etc/lanyard/keys"})
		must(t, err)
		want := map[string]readiness.Handler{"": {Since: time.Unix(1_700_000_000, 0).UTC(), Mode: readiness.ModeDropIn, Mark: "sessions"}}
		if !reflect.DeepEqual(ready.Handlers, want) || len(ready.Keys) != 1 || ready.Keys[0] != keys[0] {
			t.Errorf("readiness %+v, want %+v and keys %v", ready, want, keys)
		}
		lease := readiness.Lease{
			Readiness: ready, Renewed: a.lease.Spec.RenewTime.Time, Duration: time.Duration(*a.lease.Spec.LeaseDurationSeconds) * time.Second,
		}
		if !lease.Renewed.Equal(at) || lease.Duration != DefaultLeaseDuration || *a.lease.Spec.HolderIdentity != "n1" || a.lease.Name != "lanyard-bridge-n1" {
			t.Errorf("lease %+v", a.lease)
		}
		now := time.Now()
		if _, err := lease.Covers(readiness.Container{PodStarted: now, Started: now}, keys, now); err != nil {
			t.Errorf("the webhook says %v", err)
		}
	})
	t.Run("BRG-13 renewals keep what others wrote, and an edit meanwhile is no end", func(t *testing.T) {
		o, _ := installedNode(t)
		k, a := newKeeper(t, o)
		k.tick(ctx)
		a.change(func() {
			a.lease.ResourceVersion = "other"
			a.lease.Annotations["example.com/x"] = "y"
		})
		k.tick(ctx) // a conflict
		if s := k.status.Status(); s.LeaseError == "" {
			t.Errorf("status %+v", s)
		}
		k.tick(ctx)
		if s := k.status.Status(); s.LeaseError != "" || a.lease.Annotations["example.com/x"] != "y" {
			t.Errorf("status %+v, lease %+v", s, a.lease)
		}
		a.change(func() { a.lease = nil }) // deleted
		k.tick(ctx)
		k.tick(ctx)
		if a.lease == nil {
			t.Error("it is not made anew")
		}
	})
	t.Run("BRG-6 while the API server is away the daemon goes on and tries again", func(t *testing.T) {
		o, _ := installedNode(t)
		k, a := newKeeper(t, o)
		k.tick(ctx)
		renewed := *k.status.Status().Renewed
		a.change(func() { a.away = true })
		k.tick(ctx)
		if s := k.status.Status(); s.LeaseError == "" || !s.Renewed.Equal(renewed) || !s.Handlers[""].Ready {
			t.Errorf("status %+v", s)
		}
		a.change(func() { a.away = false })
		k.tick(ctx)
		if s := k.status.Status(); s.LeaseError != "" || !s.Renewed.After(renewed) {
			t.Errorf("status %+v", s)
		}
	})
	t.Run("BRG-13 the daemon as a whole renews it", func(t *testing.T) {
		o, _ := installedNode(t)
		k, a := newKeeper(t, o)
		o.NoLease, o.leases = false, k.leases
		ctx, stop := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- run(ctx, o, nil) }()
		eventually(t, "a Lease", func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.lease != nil
		})
		stop()
		must(t, <-done)
	})
}

func TestReady(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, o Options, config oci.Config)
		why  string // empty is ready
	}{
		"BRG-13 all is there":              {func(*testing.T, Options, oci.Config) {}, ""},
		"BRG-13 the wrapper is gone":       {remove("/opt/lanyard/lanyard-oci"), "wrapper:"},
		"BRG-13 the configuration is gone": {remove("/opt/lanyard/lanyard-oci.json"), "configuration: none"},
		"BRG-13 the keys are gone":         {remove("/etc/lanyard/keys"), "keys:"},
		"BRG-13 the keys are others' text": {put("/etc/lanyard/keys", "x"), "keys:"},
		"BRG-13 the configuration is torn": {put("/opt/lanyard/lanyard-oci.json", "{"), "configuration"},
		"BRG-13 the spool is gone":         {remove("/state/spool"), "spool:"},
		"BRG-13 the spool is a file": {func(t *testing.T, o Options, c oci.Config) {
			remove("/state/spool")(t, o, c)
			put("/state/spool", "")(t, o, c)
		}, "spool:"},
		"BRG-13 the wrapper is the runtime": {link("/usr/sbin/runc", "/opt/lanyard/lanyard-oci"), "is the runtime itself"},
		"BRG-13 the wrapper is no program": {func(t *testing.T, o Options, _ oci.Config) {
			must(t, os.Chmod(o.host("/opt/lanyard/lanyard-oci"), 0o644))
		}, "not a program"},
		"BRG-13 it passes everything through":      {configure(func(c *oci.Config) { c.PassThrough = true }), "pass everything through"},
		"BRG-13 it is configured for another node": {configure(func(c *oci.Config) { c.Node = "n2" }), `node "n2"`},
		"BRG-13 it leaves its records elsewhere":   {configure(func(c *oci.Config) { c.Spool = "/other" }), "spool is /other"},
		"BRG-13 BRG-6 the runtime's configuration was changed back by hand": {
			put(containerdFile, containerdText("/usr/sbin/runc")), `"/usr/sbin/runc"`,
		},
		"BRG-13 BRG-6 an upgrade of the node put another configuration there": {put(containerdFile, "version = 3\n"), "no longer the wrapper"},
		"BRG-13 BRG-6 the runtime's configuration is gone":                    {remove(containerdFile), "no longer the wrapper"},
		"BRG-13 the installer's record is gone":                               {remove("/state/install.json"), "record"},
		"BRG-13 the installer's record is torn":                               {put("/state/install.json", "{"), "record"},
	} {
		t.Run(name, func(t *testing.T) {
			o, config := installedNode(t)
			o = o.withDefaults()
			c.harm(t, o, config)
			ready, status, err := o.check()
			must(t, err)
			_, says := ready.Handlers[""]
			if s := status[""]; says != (c.why == "") || s.Ready != says || !strings.Contains(s.Reason, c.why) || (c.why == "") != (s.Reason == "") {
				t.Errorf("ready %v, status %+v, want %q", says, s, c.why)
			}
		})
	}
	t.Run("BRG-13 what is installed cannot be read", func(t *testing.T) {
		o, _ := installedNode(t)
		put("/state/"+installed.File, "{")(t, o, oci.Config{})
		if ready, _, err := o.check(); err == nil || len(ready.Handlers) > 0 {
			t.Errorf("readiness %+v, %v", ready, err)
		}
	})
	t.Run("BRG-13 the spool is not left with what tried it", func(t *testing.T) {
		o, _ := installedNode(t)
		o = o.withDefaults()
		must(t, o.checkSpool())
		if entries, err := os.ReadDir(o.spoolDir()); err != nil || len(entries) > 0 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}

type harm = func(*testing.T, Options, oci.Config)

func remove(path string) harm {
	return func(t *testing.T, o Options, _ oci.Config) { must(t, os.RemoveAll(o.host(path))) }
}

func put(path, text string) harm {
	return func(t *testing.T, o Options, _ oci.Config) { must(t, os.WriteFile(o.host(path), []byte(text), 0o755)) }
}

func link(from, to string) harm {
	return func(t *testing.T, o Options, _ oci.Config) {
		must(t, os.Remove(o.host(to)))
		must(t, os.Link(o.host(from), o.host(to)))
	}
}

func configure(change func(*oci.Config)) harm {
	return func(t *testing.T, o Options, c oci.Config) {
		change(&c)
		put("/opt/lanyard/lanyard-oci.json", string(c.Encode()))(t, o, c)
	}
}

func TestKeys(t *testing.T) {
	a, b := token.NewKey().Public(), token.NewKey().Public()
	t.Run("BRG-2 keys that rotate reach the wrapper, and what is not keys does not", func(t *testing.T) {
		o, config := installedNode(t)
		o.KeysFrom = filepath.Join(t.TempDir(), "keys")
		k, lease := newKeeper(t, o)
		give := func(text string) { must(t, os.WriteFile(o.KeysFrom, []byte(text), 0o600)) }
		have := func() string {
			text, err := os.ReadFile(o.host(config.Keys))
			must(t, err)
			return string(text)
		}
		for _, keys := range []token.Keys{{a}, {a, b}, {b}} {
			give(keys.Text())
			k.tick(context.Background())
			ready, err := readiness.Parse(lease.lease.Annotations)
			must(t, err)
			if have() != keys.Text() || len(ready.Keys) != len(keys) || ready.Keys[0] != keys[0].ID().String() {
				t.Errorf("keys %s\nreadiness %+v, want %v", have(), ready, keys.IDs())
			}
		}
		before, err := os.Stat(o.host(config.Keys))
		must(t, err)
		give("nonsense")
		k.tick(context.Background())
		after, err := os.Stat(o.host(config.Keys))
		must(t, err)
		if have() != (token.Keys{b}).Text() || !os.SameFile(before, after) || k.status.Status().KeysError == "" {
			t.Errorf("keys %s, status %+v", have(), k.status.Status())
		}
		if entries, err := os.ReadDir(filepath.Dir(o.host(config.Keys))); err != nil || len(entries) != 1 || after.Mode() != 0o644 && len(entries) == 1 {
			t.Errorf("%v, %v, %v", entries, after.Mode(), err)
		}
	})
}
