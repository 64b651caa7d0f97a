//go:build linux

package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

const containerdFile = "/etc/containerd/config.toml"

// containerdText is a configuration whose default handler executes the program.
func containerdText(program string) string {
	return fmt.Sprintf(`version = 3
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = %q
`, program)
}

// installation is one program of the installer's record.
type installation struct {
	Name     string   `json:"name"`
	Handlers []string `json:"handlers"`
	Wrapper  string   `json:"wrapper"`
	Executed string   `json:"executed"`
}

// recordInstallation leaves what the installer remembers of its work.
func recordInstallation(t *testing.T, o Options, mode string, wrapped ...installation) {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"version": 1, "mode": mode, "runtime": "containerd", "runtimeVersion": "v2.4.2", "config": containerdFile, "wrapped": wrapped,
	})
	must(t, err)
	must(t, os.WriteFile(o.host("/state/install.json"), text, 0o600))
}

// boundNode is a node with the runtime's file covered, as the installer does it.
func boundNode(t *testing.T) (o Options, cover func()) {
	t.Helper()
	o = options(t)
	const wrapper, covered, real = "/opt/lanyard/bin/lanyard-oci-runc", "/usr/sbin/runc", "/run/lanyard/real/usr-sbin/runc"
	settings := oci.ConfigPaths(covered)[1]
	config := oci.Config{Runtime: real, Node: "n1", Keys: "/etc/lanyard/keys", Spool: "/state/spool"}
	for path, text := range map[string]string{
		wrapper: "wrapper", covered: "runtime", "/etc/lanyard/keys": token.Keys{token.NewKey().Public()}.Text(), settings: string(config.Encode()),
	} {
		must(t, os.MkdirAll(filepath.Dir(o.host(path)), 0o755))
		must(t, os.WriteFile(o.host(path), []byte(text), 0o755))
	}
	must(t, os.MkdirAll(o.host(filepath.Dir(real)), 0o755))
	bind := func(from, to string) {
		t.Helper()
		must(t, unix.Mount(o.host(from), o.host(to), "", unix.MS_BIND, ""))
		must(t, unix.Mount("", o.host(to), "", unix.MS_PRIVATE, ""))
		t.Cleanup(func() { // it may be gone by then
			if err := unix.Unmount(o.host(to), unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
				t.Error(err)
			}
		})
	}
	bind(filepath.Dir(covered), filepath.Dir(real))
	cover = func() { bind(wrapper, covered) }
	cover()
	must(t, installed.State{Handlers: map[string]installed.Handler{"": {
		Mode: string(readiness.ModeBind), Since: time.Unix(1_700_000_000, 0).UTC(), Wrapper: covered, Runtime: real, Config: settings,
	}}}.Save(o.host("/state/"+installed.File)))
	recordInstallation(t, o, "bind", installation{Name: "runc", Handlers: []string{"", "runc"}, Wrapper: wrapper, Executed: covered})
	return o, cover
}

// elsewhere runs f in a mount namespace of its own.
func elsewhere(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and the thread ends with it
		err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	must(t, <-done)
}

func TestCovered(t *testing.T) {
	const file = "/usr/sbin/runc"
	for name, c := range map[string]struct {
		harm func(*testing.T, Options)
		why  string // empty is ready
	}{
		"BRG-13 the wrapper covers the runtime":       {func(*testing.T, Options) {}, ""},
		"BRG-13 BRG-6 the cover was taken off":        {func(t *testing.T, o Options) { must(t, unix.Unmount(o.host(file), 0)) }, "is the runtime itself"},
		"BRG-13 BRG-6 the runtime was replaced":       {replaceElsewhere, "is the runtime itself"},
		"BRG-13 BRG-6 the runtime is not seen":        {func(t *testing.T, o Options) { hideReal(t, o); must(t, unix.Unmount(o.host(file), 0)) }, "is not covered"},
		"BRG-13 BRG-6 something else covers it":       {coverByAnother, "is not covered"},
		"BRG-13 only the cover is seen, not the real": {hideReal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := boundNode(t)
			o = o.withDefaults()
			c.harm(t, o)
			ready, status, err := o.check()
			must(t, err)
			_, says := ready.Handlers[""]
			if s := status[""]; says != (c.why == "") || !strings.Contains(s.Reason, c.why) || (c.why == "") != (s.Reason == "") {
				t.Errorf("ready %v, status %+v, want %q", says, s, c.why)
			}
		})
	}
}

func replaceElsewhere(t *testing.T, o Options) {
	elsewhere(t, func() error {
		path := o.host("/usr/sbin/runc")
		if err := unix.Unmount(path, 0); err != nil {
			return err
		}
		return errors.Join(os.WriteFile(path+".new", []byte("runtime 2"), 0o755), os.Rename(path+".new", path))
	})
}

func hideReal(t *testing.T, o Options) {
	must(t, unix.Unmount(o.host("/run/lanyard/real/usr-sbin"), unix.MNT_DETACH))
}

func coverByAnother(t *testing.T, o Options) {
	must(t, os.WriteFile(o.host("/other"), []byte("another wrapper"), 0o755))
	must(t, unix.Mount(o.host("/other"), o.host("/usr/sbin/runc"), "", unix.MS_BIND, ""))
	t.Cleanup(func() { must(t, unix.Unmount(o.host("/usr/sbin/runc"), 0)) })
}

func TestLeaseChanged(t *testing.T) {
	ctx := context.Background()
	leased := func(t *testing.T, a *api) map[string]readiness.Handler {
		t.Helper()
		ready, err := readiness.Parse(a.lease.Annotations)
		must(t, err)
		return ready.Handlers
	}
	t.Run("BRG-13 BRG-6 the next renewal drops a handler whose configuration was changed back, with reason and metric, and takes it in again", func(t *testing.T) {
		o, _ := installedNode(t)
		k, a := newKeeper(t, o)
		for _, c := range []struct {
			program string
			ready   bool
		}{{"/opt/lanyard/lanyard-oci", true}, {"/usr/sbin/runc", false}, {"/opt/lanyard/lanyard-oci", true}} {
			must(t, os.WriteFile(o.host(containerdFile), []byte(containerdText(c.program)), 0o644))
			k.tick(ctx)
			_, says := leased(t, a)[""]
			s := k.status.Status().Handlers[""]
			if says != c.ready || s.Ready != c.ready || (s.Reason == "") != c.ready || gauge(t, k.status, "handler_ready") != map[bool]float64{true: 1}[c.ready] {
				t.Errorf("%s: Lease %t, status %+v", c.program, says, s)
			}
		}
	})
	t.Run("BRG-13 BRG-6 so for a cover that was taken off, until it is back", func(t *testing.T) {
		o, cover := boundNode(t)
		k, a := newKeeper(t, o)
		for i, want := range []bool{true, false, true} {
			switch i {
			case 1:
				must(t, unix.Unmount(o.host("/usr/sbin/runc"), 0))
			case 2:
				cover()
			}
			k.tick(ctx)
			if _, says := leased(t, a)[""]; says != want {
				t.Errorf("Lease %t, status %+v", says, k.status.Status().Handlers)
			}
		}
	})
}

// gauge returns the value of a metric that has one.
func gauge(t *testing.T, b *board, name string) float64 {
	t.Helper()
	families, err := b.registry.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == metricsPrefix+name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
