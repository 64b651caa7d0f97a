//go:build linux

package install_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/install"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

func TestRefused(t *testing.T) {
	main := "/etc/containerd/config.toml"
	for _, c := range []struct {
		name, text string
		change     func(*install.Options)
		want       error
		word       string
	}{
		{"BRG-9 a handler with a shim of its own", containerdMain, func(o *install.Options) { o.Handlers = []string{"kata"} }, runtimeconf.ErrRuntime, "io.containerd.kata.v2"},
		{"BRG-9 a handler that is not configured", containerdMain, func(o *install.Options) { o.Handlers = []string{"crun"} }, runtimeconf.ErrHandler, "crun"},
		{"BRG-9 a real runtime that is not there", strings.Replace(containerdMain, "/usr/sbin/runc", "/nowhere/runc", 1), nil, fs.ErrNotExist, "/nowhere/runc"},
		{"BRG-9 no node name", containerdMain, func(o *install.Options) { o.Node = "" }, install.ErrUsage, "name"},
		{"BRG-9 a relative prefix", containerdMain, func(o *install.Options) { o.Prefix = "opt" }, install.ErrUsage, "opt"},
		{"BRG-9 an unknown mode", containerdMain, func(o *install.Options) { o.Mode = "shim" }, install.ErrUsage, "shim"},
		{"BRG-9 a runtime that does not answer", containerdMain, func(o *install.Options) { o.Socket = "/nowhere.sock" }, install.ErrNoAnswer, "/nowhere.sock"},
		{"BRG-9 configuration version 1", "root = \"/r\"\n", nil, runtimeconf.ErrForm, "version 0"},
	} {
		t.Run(c.name+" is refused, and nothing is touched", func(t *testing.T) {
			m := newMachine(t, "containerd", main, c.text)
			o := m.options(install.ModeDropIn)
			if c.change != nil {
				c.change(&o)
			}
			_, err := install.Install(t.Context(), o)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.word) {
				t.Errorf("Install(…) = %v, want %v with %q", err, c.want, c.word)
			}
			m.unchanged(t, c.text)
			if _, err := os.Stat(m.root + install.DefaultPrefix); err == nil {
				t.Error("the wrapper was placed")
			}
		})
	}
	t.Run("BRG-9 another mode is refused until the first is gone", func(t *testing.T) {
		m := newMachine(t, "containerd", main, containerdMain)
		mustInstall(t, m.options(install.ModeDropIn))
		if _, err := install.Install(t.Context(), m.options(install.ModeRuntimeClass)); !errors.Is(err, install.ErrInstalled) {
			t.Errorf("Install(…) = %v", err)
		}
	})
	t.Run("BRG-9 a configuration that is not the running one is refused", func(t *testing.T) {
		m := newMachine(t, "containerd", main, containerdMain)
		write(t, m.root+main, strings.Replace(containerdMain, "/usr/sbin/runc", "/usr/sbin/crun", 1))
		if _, err := install.Install(t.Context(), m.options(install.ModeDropIn)); err == nil || !strings.Contains(err.Error(), "--config") {
			t.Errorf("Install(…) = %v", err)
		}
	})
	t.Run("BRG-9 a k3s template is refused", func(t *testing.T) {
		m := newMachine(t, "containerd", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml", containerdMain)
		if _, err := install.Install(t.Context(), m.options(install.ModeDropIn)); err == nil || !strings.Contains(err.Error(), "template") {
			t.Errorf("Install(…) = %v", err)
		}
	})
	t.Run("BRG-11 changed lines: uninstall touches nothing", func(t *testing.T) {
		m := newMachine(t, "containerd", main, containerdMain)
		o := m.options(install.ModeDropIn)
		mustInstall(t, o)
		changed := strings.Replace(m.read(t, main), install.DefaultPrefix, "/other", 1)
		write(t, m.root+main, changed)
		if _, err := install.Uninstall(t.Context(), o); !errors.Is(err, runtimeconf.ErrNotFound) || m.read(t, main) != changed {
			t.Errorf("Uninstall(…) = %v", err)
		}
	})
	t.Run("BRG-11 a file that was replaced has nothing to undo", func(t *testing.T) {
		m := newMachine(t, "containerd", main, containerdMain)
		o := m.options(install.ModeDropIn)
		mustInstall(t, o)
		write(t, m.root+main, containerdMain+"# new\n")
		if r := mustUninstall(t, o); r.Mode != "" || m.read(t, main) != containerdMain+"# new\n" {
			t.Errorf("%+v", r)
		}
	})
}
