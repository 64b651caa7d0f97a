//go:build linux

package install_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/install"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

const (
	containerdMain = `version = 3
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
    BinaryName = "/usr/sbin/runc"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.kata]
  runtime_type = "io.containerd.kata.v2"
`
	crioMain = `[crio.runtime]
default_runtime = "crun"
[crio.runtime.runtimes.crun]
runtime_path = "/usr/sbin/crun"
monitor_path = "/usr/libexec/crio/conmon"
`
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// machine is a host's files below a directory, and its runtime.
type machine struct {
	*fakeRuntime
	root   string
	config string
}

func newMachine(t *testing.T, kind, config, text string) *machine {
	t.Helper()
	root, err := os.MkdirTemp("", "a root") // short, since it has a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	m := &machine{root: root, config: config}
	for path, content := range map[string]string{
		"/usr/sbin/runc": "#!runc", "/usr/sbin/crun": "#!crun", "/lanyard-oci": "wrapper 1", config: text,
	} {
		if content == "" {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(root+path), 0o755), os.WriteFile(root+path, []byte(content), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	// A configuration's path goes over a link, as on some distributions.
	if err := os.Symlink("/usr/sbin", filepath.Join(root, "sbin")); err != nil {
		t.Fatal(err)
	}
	m.fakeRuntime = serveRuntime(t, kind, root, config)
	return m
}

func (m *machine) options(mode install.Mode) install.Options {
	return install.Options{
		Mode: mode, HostRoot: m.root, Socket: m.socket, Config: m.config, Node: "n1", Wrapper: m.root + "/lanyard-oci",
		Now: func() time.Time { return now },
	}
}

func (m *machine) read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(m.root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (m *machine) told(t *testing.T) map[string]installed.Handler {
	t.Helper()
	s, err := installed.Load(m.root + install.DefaultState + "/" + installed.File)
	if err != nil {
		t.Fatal(err)
	}
	return s.Handlers
}

func mustInstall(t *testing.T, o install.Options) install.Report {
	t.Helper()
	r, err := install.Install(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustUninstall(t *testing.T, o install.Options) install.Report {
	t.Helper()
	r, err := install.Uninstall(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDropIn(t *testing.T) {
	for _, c := range []struct{ kind, config, text, handler, restart string }{
		{"containerd", "/etc/containerd/config.toml", containerdMain, "runc", "systemctl restart containerd"},
		{"containerd", "/etc/containerd/config.toml", "", "runc", "systemctl restart containerd"},
		{"cri-o", "/etc/crio/crio.conf", crioMain, "crun", "systemctl restart crio"},
	} {
		t.Run("BRG-9 BRG-11 "+c.kind+" with and without a file of its own: "+c.text[:min(len(c.text), 11)], func(t *testing.T) {
			m := newMachine(t, c.kind, c.config, c.text)
			o := m.options(install.ModeDropIn)
			wrapper := install.DefaultPrefix + "/bin/lanyard-oci-" + c.handler

			report := mustInstall(t, o)
			if report.Active || report.Restart != c.restart || len(m.told(t)) != 0 {
				t.Errorf("before the restart: %+v, told %v", report, m.told(t))
			}
			m.restart(t)
			report = mustInstall(t, o)
			if since := m.told(t)[""].Since; !report.Active || report.Restart != "" || since != now || m.told(t)[c.handler].Wrapper != wrapper {
				t.Errorf("after the restart: %+v, told %v", report, m.told(t))
			}
			config, err := oci.ParseConfig([]byte(m.read(t, wrapper+".json")))
			if want := "/usr/sbin/" + c.handler; err != nil || config.Runtime != want || config.Node != "n1" || config.PassThrough {
				t.Errorf("the wrapper's configuration is %+v, %v, want runtime %s", config, err, want)
			}

			// A newer wrapper, later: the time from which it is active stays.
			write(t, m.root+"/lanyard-oci", "wrapper 2")
			o.Now = func() time.Time { return now.Add(time.Hour) }
			mustInstall(t, o)
			if m.told(t)[""].Since != now || m.read(t, wrapper) != "wrapper 2" {
				t.Errorf("after an upgrade: told %v, wrapper %q", m.told(t), m.read(t, wrapper))
			}

			m.remember(t, wrapper)
			if report = mustUninstall(t, o); report.Restart != c.restart || len(m.told(t)) != 0 {
				t.Errorf("uninstall before the restart: %+v, told %v", report, m.told(t))
			}
			m.unchanged(t, c.text)
			m.restart(t)
			if c.kind == "containerd" {
				if report = mustUninstall(t, o); len(report.Keeping) != 2 || !report.Leaving {
					t.Errorf("uninstall with a pod that remembers: %+v", report)
				}
				config, err := oci.ParseConfig([]byte(m.read(t, wrapper+".json")))
				if err != nil || !config.PassThrough {
					t.Errorf("the wrapper's configuration is %+v, %v", config, err)
				}
			}
			m.forget()
			if report = mustUninstall(t, o); report.Mode != "" {
				t.Errorf("uninstall when nothing remembers it: %+v", report)
			}
			if _, err := os.Stat(m.root + install.DefaultPrefix); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is there: %v", install.DefaultPrefix, err)
			}
		})
	}
}

// unchanged checks the configuration against what it was.
func (m *machine) unchanged(t *testing.T, text string) {
	t.Helper()
	now, err := os.ReadFile(m.root + m.config)
	if text == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(now) != text {
		t.Errorf("the configuration is %q, %v, was %q", now, err, text)
	}
	if left, _ := filepath.Glob(m.root + m.config + ".d"); left != nil {
		t.Errorf("%s is left", left)
	}
}

func TestRestart(t *testing.T) {
	m := newMachine(t, "containerd", "/etc/containerd/config.toml", containerdMain)
	o := m.options(install.ModeDropIn)
	count := filepath.Join(m.root, "count")
	o.Restart = "echo >>'" + count + "'; touch '" + filepath.Join(m.root, restartFile) + "'"
	restarts := func() int {
		text, _ := os.ReadFile(count)
		return len(text)
	}
	t.Run("BRG-9 the runtime is restarted once where that was asked for, and not again", func(t *testing.T) {
		if r := mustInstall(t, o); !r.Active || restarts() != 1 {
			t.Errorf("%+v after %d restarts", r, restarts())
		}
		if r := mustInstall(t, o); !r.Active || restarts() != 1 {
			t.Errorf("%+v after %d restarts", r, restarts())
		}
	})
	t.Run("BRG-9 the same for uninstall", func(t *testing.T) {
		if r := mustUninstall(t, o); r.Mode != "" || restarts() != 2 {
			t.Errorf("%+v after %d restarts", r, restarts())
		}
	})
	t.Run("BRG-9 a restart that fails is said with its words", func(t *testing.T) {
		o.Restart = "echo no such unit >&2; exit 5"
		if _, err := install.Install(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no such unit") {
			t.Errorf("Install(…) = %v", err)
		}
	})
}

func TestRuntimeClass(t *testing.T) {
	m := newMachine(t, "containerd", "/etc/containerd/config.toml", containerdMain)
	o := m.options(install.ModeRuntimeClass)
	mustInstall(t, o)
	m.restart(t)
	t.Run("BRG-9 the new handler alone is told", func(t *testing.T) {
		if r := mustInstall(t, o); !r.Active || len(m.told(t)) != 1 || m.told(t)["lanyard"].Mode != "runtimeclass" {
			t.Errorf("%+v, told %v", r, m.told(t))
		}
	})
	t.Run("BRG-11 the handler stays while a pod has it, also one that ended", func(t *testing.T) {
		ended := runtimeapi.PodSandboxState_SANDBOX_NOTREADY
		m.know([]*runtimeapi.PodSandbox{{Id: "p", RuntimeHandler: "lanyard", State: ended, Metadata: &runtimeapi.PodSandboxMetadata{}}})
		if r := mustUninstall(t, o); len(r.Keeping) != 1 || r.Restart != "" || !strings.Contains(m.read(t, m.config), "runtimes.lanyard") {
			t.Errorf("%+v, configuration %s", r, m.read(t, m.config))
		}
	})
	t.Run("BRG-11 then it goes", func(t *testing.T) {
		m.forget()
		if r := mustUninstall(t, o); r.Restart == "" {
			t.Errorf("%+v", r)
		}
		m.unchanged(t, containerdMain)
		m.restart(t)
		if r := mustUninstall(t, o); r.Mode != "" {
			t.Errorf("%+v", r)
		}
	})
}

func TestAgainWhileLeaving(t *testing.T) {
	m := newMachine(t, "containerd", "/etc/containerd/config.toml", containerdMain)
	o := m.options(install.ModeDropIn)
	mustInstall(t, o)
	m.restart(t)
	mustInstall(t, o)
	m.remember(t, install.DefaultPrefix+"/bin/lanyard-oci-runc")
	mustUninstall(t, o)
	m.restart(t)
	if r := mustUninstall(t, o); !r.Leaving {
		t.Fatalf("%+v", r)
	}
	t.Run("BRG-11 an installation over one that leaves is active again, before the same runtime", func(t *testing.T) {
		if r := mustInstall(t, o); r.Restart == "" || r.Leaving {
			t.Errorf("%+v", r)
		}
		m.restart(t)
		o.Now = func() time.Time { return now.Add(time.Hour) }
		r := mustInstall(t, o)
		config, err := oci.ParseConfig([]byte(m.read(t, install.DefaultPrefix+"/bin/lanyard-oci-runc.json")))
		if err != nil || !r.Active || config.PassThrough || config.Runtime != "/usr/sbin/runc" || m.told(t)[""].Since != now.Add(time.Hour) {
			t.Errorf("%+v, %+v, %v", r, config, err)
		}
	})
	t.Run("BRG-13 a runtime that no longer uses it is told to nobody, from Verify on", func(t *testing.T) {
		write(t, m.root+m.config, containerdMain)
		m.restart(t)
		if r, err := install.Verify(t.Context(), o); err != nil || r.Active || len(m.told(t)) != 0 || r.Handlers[0].Reason == "" {
			t.Errorf("%+v, %v, told %v", r, err, m.told(t))
		}
	})
}

func TestFiles(t *testing.T) {
	m := newMachine(t, "containerd", "/etc/containerd/config.toml", containerdMain)
	real := m.root + "/etc/containerd/real.toml"
	if err := errors.Join(os.Rename(m.root+m.config, real), os.Symlink("real.toml", m.root+m.config), os.Chmod(real, 0o640)); err != nil {
		t.Fatal(err)
	}
	mustInstall(t, m.options(install.ModeDropIn))
	t.Run("BRG-9 a configuration that is a link stays one, with its mode", func(t *testing.T) {
		info, err := os.Lstat(m.root + m.config)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is %v, %v", info, err)
		}
		if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the file is %v, %v", info, err)
		}
	})
	t.Run("BRG-6 the spool is the owner's alone", func(t *testing.T) {
		if info, err := os.Stat(m.root + install.DefaultState + "/spool"); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
	})
}

func TestInspect(t *testing.T) {
	m := newMachine(t, "containerd", "/etc/containerd/config.toml", containerdMain)
	o := m.options(install.ModeDropIn)
	m.remember(t, "/usr/sbin/runc")
	mustInstall(t, o)
	m.restart(t)
	mustInstall(t, o)
	spool := m.root + install.DefaultState + "/spool/"
	write(t, spool+"00000000000000000000000000000000.json", "{}")
	write(t, spool+"00000000000000000000000000000001.json", "{}")
	if err := os.Chmod(spool+"00000000000000000000000000000001.json", 0o400); err != nil { // in the journal, and bars its token
		t.Fatal(err)
	}
	s, err := install.Inspect(t.Context(), o, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("BRG-9 status tells what the runtime uses, what waits and what is older", func(t *testing.T) {
		if !s.Active || s.Spool.Records != 1 || s.Spool.FreeBytes == 0 || len(s.Older) != 2 || s.Keys.Fault == "" || len(s.Wrappers) != 1 || len(s.Wrappers[0].SHA256) != 64 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("BRG-9 status is JSON of its own fields", func(t *testing.T) {
		text, err := json.Marshal(s)
		if err != nil || !strings.Contains(string(text), `"older":[`) || !strings.Contains(string(text), `"since":"2026-11-22T12:00:00Z"`) {
			t.Errorf("%s, %v", text, err)
		}
	})
	t.Run("BRG-9 a runtime that is away is said", func(t *testing.T) {
		o := o
		o.Socket = "/nowhere.sock"
		if s, err := install.Inspect(t.Context(), o, ""); err != nil || s.Fault == "" || s.Active {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
