package runtimeconf_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

// program returns the path of a program that `make parts` builds.
func program(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("LANYARD_BIN")
	for up, _ := os.Getwd(); dir == "" && up != "/"; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "modules.txt")); err == nil {
			dir = filepath.Join(up, ".build", "bin")
		}
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not built: run make parts", path)
	}
	return path
}

// dump returns the configuration as the real containerd merges it.
func dump(t *testing.T, containerd, file string) map[string]any {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(containerd, "--config", file, "config", "dump")
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("containerd config dump: %v: %s", err, said.String())
	}
	tree := map[string]any{}
	if err := toml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "imports")
	return tree
}

// runtimesOf cuts the handlers out of the configuration.
func runtimesOf(t *testing.T, tree map[string]any) map[string]any {
	t.Helper()
	for _, plugin := range []string{"io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri"} {
		cri, _ := tree["plugins"].(map[string]any)[plugin].(map[string]any)
		containerd, _ := cri["containerd"].(map[string]any)
		if handlers, ok := containerd["runtimes"].(map[string]any); ok {
			delete(containerd, "runtimes")
			dropZero(handlers)
			return handlers
		}
	}
	t.Fatal("no runtimes")
	return nil
}

// dropZero removes what says nothing: containerd 1.x prints the defaults of some handlers and not of others.
func dropZero(tree map[string]any) {
	for name, value := range tree {
		if inner, ok := value.(map[string]any); ok {
			dropZero(inner)
		}
		if v := reflect.ValueOf(value); v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
			delete(tree, name)
		}
	}
}

const (
	v2Main = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  pod_annotations = ["a.example/*"]
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
    BinaryName = "/usr/bin/runc"
    SystemdCgroup = true
`
	v3Main = `version = 3
imports = ["conf.d/*.toml"]
[plugins."io.containerd.cri.v1.runtime".containerd]
  default_runtime_name = "crun"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.crun]
  runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.crun.options]
    BinaryName = "/usr/bin/crun"
`
	kataImport = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.kata]
  runtime_type = "io.containerd.kata.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
`
)

func TestRealContainerd(t *testing.T) {
	for _, c := range []struct {
		name     string
		programs map[string]int // with its major version
		files    map[string]string
		handler  string // the default one
		inFile   string // where the change goes
	}{
		{"version 2 without imports", map[string]int{"debian/containerd": 1, "containerd": 2}, map[string]string{"config.toml": v2Main}, "runc", "config.toml"},
		{"no handler named", map[string]int{"debian/containerd": 1, "containerd": 2}, map[string]string{"config.toml": "version = 2\n"}, "runc", "config.toml"},
		{"no file", map[string]int{"debian/containerd": 1, "containerd": 2}, map[string]string{}, "runc", "config.toml"},
		{
			"an import replaces the table",
			map[string]int{"debian/containerd": 1},
			map[string]string{"config.toml": "imports = [\"DIR/conf.d/*.toml\"]\n" + v2Main, "conf.d/10-kata.toml": kataImport},
			"runc", "conf.d/10-kata.toml",
		},
		{
			"imports are merged",
			map[string]int{"containerd": 2},
			map[string]string{"config.toml": "imports = [\"conf.d/*.toml\"]\n" + v2Main, "conf.d/10-kata.toml": kataImport},
			"runc", "conf.d/99-lanyard.toml",
		},
		{"version 3 with imports", map[string]int{"containerd": 2}, map[string]string{"config.toml": v3Main}, "crun", "conf.d/99-lanyard.toml"},
		{"version 3 without imports", map[string]int{"containerd": 2}, map[string]string{"config.toml": strings.Replace(v3Main, "imports", "#", 1)}, "crun", "config.toml"},
	} {
		for containerd, major := range c.programs {
			for _, change := range []runtimeconf.Change{{Handler: c.handler, Binary: "/a b/lanyard-oci"}, {Handler: "lanyard", CopyOf: c.handler, Binary: "/a b/lanyard-oci"}} {
				t.Run("BRG-9 "+containerd+" "+c.name+", handler "+change.Handler, func(t *testing.T) {
					containerd := program(t, containerd)
					dir := t.TempDir()
					files := map[string]string{}
					for name, text := range c.files {
						files[name] = strings.ReplaceAll(text, "DIR", dir)
						write(t, filepath.Join(dir, name), files[name])
					}
					main := filepath.Join(dir, "config.toml")
					empty := filepath.Join(t.TempDir(), "config.toml")
					write(t, empty, "version = 2\n")
					from := main
					if len(c.files) == 0 {
						from = empty // a file that is named must be there
					}
					before := dump(t, containerd, from)
					conf := runtimeconf.Containerd{Major: major, Main: main, Files: load(t, dir, files)}
					patches, err := conf.Plan(change)
					if err != nil || len(patches) == 0 {
						t.Fatalf("Plan(…) = %v, %v", patches, err)
					}
					if want := filepath.Join(dir, c.inFile); patches[0].Path != want {
						t.Errorf("Plan(…) changes %s, want %s", patches[0].Path, want)
					}
					for _, p := range patches {
						write(t, p.Path, string(p.After))
					}
					after := dump(t, containerd, main)
					handlers, now := runtimesOf(t, before), runtimesOf(t, after)
					if !reflect.DeepEqual(before, after) {
						t.Errorf("containerd's other settings are\n%v, were\n%v", after, before)
					}
					want := change.Handler
					if change.CopyOf != "" {
						want = change.CopyOf
					}
					expected, got := handlers[want].(map[string]any), now[change.Handler].(map[string]any)
					if binary := got["options"].(map[string]any)["BinaryName"]; binary != change.Binary {
						t.Errorf("BinaryName is %q", binary)
					}
					for _, key := range []string{"runtime_type", "pod_annotations"} {
						if !reflect.DeepEqual(got[key], expected[key]) {
							t.Errorf("%s is %v, want %v", key, got[key], expected[key])
						}
					}
					delete(got["options"].(map[string]any), "BinaryName")
					if options, ok := expected["options"].(map[string]any); ok {
						binaryBefore := options["BinaryName"]
						delete(options, "BinaryName")
						if !reflect.DeepEqual(got["options"], options) {
							t.Errorf("options are %v, want %v", got["options"], options)
						}
						if binaryBefore != nil {
							options["BinaryName"] = binaryBefore
						}
					}
					delete(handlers, change.Handler)
					delete(now, change.Handler)
					if !reflect.DeepEqual(handlers, now) {
						t.Errorf("the other handlers are\n%v, were\n%v", now, handlers)
					}
				})
			}
		}
	}
}

func load(t *testing.T, dir string, files map[string]string) (out []runtimeconf.File) {
	for _, name := range []string{"config.toml", "conf.d/10-kata.toml"} {
		if text, ok := files[name]; ok {
			out = append(out, runtimeconf.File{Path: filepath.Join(dir, name), Text: []byte(text)})
		}
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
