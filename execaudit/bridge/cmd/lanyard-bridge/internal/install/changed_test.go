//go:build linux

package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/install"
)

// installedMachine has the wrapper in mode drop-in, and a runtime that uses it.
func installedMachine(t *testing.T, kind, config, text string) *machine {
	t.Helper()
	m := newMachine(t, kind, config, text)
	mustInstall(t, m.options(install.ModeDropIn))
	m.restart(t)
	if r := mustInstall(t, m.options(install.ModeDropIn)); !r.Active {
		t.Fatalf("%+v", r)
	}
	return m
}

func (m *machine) changed(t *testing.T) map[string]string {
	t.Helper()
	reasons, err := install.Changed(m.root, install.DefaultState)
	if err != nil {
		t.Fatal(err)
	}
	return reasons
}

func TestChanged(t *testing.T) {
	const (
		containerd = "/etc/containerd/config.toml"
		withDropIn = "imports = [\"/etc/containerd/conf.d/*.toml\"]\n" + containerdMain
		dropIn     = "/etc/containerd/conf.d/99-lanyard.toml"
	)
	put := func(path, text string) func(*testing.T, *machine) {
		return func(t *testing.T, m *machine) { write(t, m.root+path, text) }
	}
	remove := func(path string) func(*testing.T, *machine) {
		return func(t *testing.T, m *machine) {
			if err := os.Remove(m.root + path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, kind, config, text string
		harm                     func(*testing.T, *machine)
		standard, named          string // what is said of the default handler, and of its name; "" is as it was
	}{
		{"nothing changed", "containerd", containerd, containerdMain, func(*testing.T, *machine) {}, "", ""},
		{"nothing changed where there was no file", "containerd", containerd, "", func(*testing.T, *machine) {}, "", ""},
		{"nothing changed under CRI-O", "cri-o", "/etc/crio/crio.conf", crioMain, func(*testing.T, *machine) {}, "", ""},
		{"another program's line is added", "containerd", containerd, containerdMain, func(t *testing.T, m *machine) {
			write(t, m.root+containerd, m.read(t, containerd)+"[debug]\nlevel = \"info\"\n")
		}, "", ""},
		{"its lines are written anew by another program", "containerd", containerd, containerdMain, func(t *testing.T, m *machine) {
			var lines []string
			for line := range strings.Lines(m.read(t, containerd)) {
				if !strings.HasPrefix(strings.TrimSpace(line), "#") {
					lines = append(lines, line)
				}
			}
			write(t, m.root+containerd, strings.Join(lines, ""))
		}, "", ""},
		{"the former file is back, and nothing restarted", "containerd", containerd, containerdMain, put(containerd, containerdMain), `"/usr/sbin/runc"`, `"/usr/sbin/runc"`},
		{"the file that it made is gone", "containerd", containerd, "", remove(containerd), "no longer the wrapper", "no longer the wrapper"},
		{"the file is torn", "containerd", containerd, containerdMain, put(containerd, "["), "not TOML", "not TOML"},
		{"its own file is gone", "containerd", containerd, withDropIn, remove(dropIn), "no longer the wrapper", "no longer the wrapper"},
		{"the main file does not import its own any more", "containerd", containerd, withDropIn, put(containerd, containerdMain), "no longer the wrapper", "no longer the wrapper"},
		{
			"a later file has the last word", "containerd", containerd, withDropIn,
			put("/etc/containerd/conf.d/99-other.toml", strings.Replace(containerdMain, "/usr/sbin/runc", "/usr/sbin/crun", 1)), `"/usr/sbin/crun"`, `"/usr/sbin/crun"`,
		},
		{"another handler is the default one", "containerd", containerd, containerdMain, func(t *testing.T, m *machine) {
			write(t, m.root+containerd, m.read(t, containerd)+"[plugins.\"io.containerd.cri.v1.runtime\".containerd]\ndefault_runtime_name = \"kata\"\n")
		}, `"kata"`, ""},
		{"CRI-O's further file is gone", "cri-o", "/etc/crio/crio.conf", crioMain, remove("/etc/crio/crio.conf.d/99-lanyard.conf"), "no longer the wrapper", "no longer the wrapper"},
	} {
		t.Run("BRG-13 BRG-11 "+c.name, func(t *testing.T) {
			text := c.text
			m := newMachine(t, c.kind, c.config, text)
			if err := os.MkdirAll(filepath.Dir(m.root+dropIn), 0o755); err != nil {
				t.Fatal(err)
			}
			mustInstall(t, m.options(install.ModeDropIn))
			c.harm(t, m)
			reasons := m.changed(t)
			for name, want := range map[string]string{"": c.standard, map[string]string{"containerd": "runc", "cri-o": "crun"}[c.kind]: c.named} {
				got, known := reasons[name]
				if !known || (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("handler %q: %q, %t, want %q", name, got, known, want)
				}
			}
		})
	}
	t.Run("BRG-13 an installation again heals it", func(t *testing.T) {
		m := installedMachine(t, "containerd", containerd, containerdMain)
		write(t, m.root+containerd, containerdMain)
		mustInstall(t, m.options(install.ModeDropIn))
		if reasons := m.changed(t); reasons[""] != "" || len(reasons) != 2 {
			t.Errorf("%q", reasons)
		}
	})
	t.Run("BRG-13 nothing is installed", func(t *testing.T) {
		if reasons := newMachine(t, "containerd", containerd, containerdMain).changed(t); reasons != nil {
			t.Errorf("%q", reasons)
		}
	})
	t.Run("BRG-13 the record is torn", func(t *testing.T) {
		m := installedMachine(t, "containerd", containerd, containerdMain)
		write(t, m.root+install.DefaultState+"/install.json", "{")
		if reasons, err := install.Changed(m.root, install.DefaultState); err == nil {
			t.Errorf("%q", reasons)
		}
	})
}
