package promises_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// budgets are the packages beyond the standard library and the house that a package
// may bring along (docs/design.md); arrows are those of the house.
var budgets = map[string]int{
	"redact/...":                 0,
	"envprecedence/...":          0,
	"execaudit":                  0,
	"execaudit/kubelet":          0,
	"execaudit/journal/...":      0,
	"supgroups":                  0,
	"supgroups/rootfs":           0,
	"kubeletauthz":               0,
	"internal/flight/...":        0,
	"internal/terminal/...":      0,
	"pluginexec/...":             0,
	"credprovider":               5,
	"credprovider/pluginsdk":     5,
	"execcredential/...":         8,
	"execaudit/attribution/...":  0,
	"execaudit/bridge":           0,
	"execaudit/bridge/token":     0,
	"execaudit/bridge/oci":       0,
	"execaudit/bridge/spool":     0,
	"execaudit/bridge/readiness": 0,
	"execaudit/bridge/sessions":  0,
	"execaudit/agent":            0,
	"execaudit/agent/connector":  1, // golang.org/x/sys/unix
}

// oldestKubernetes is the line that library modules require: the first whose CRI
// KeyValue has a value of bytes.
const oldestKubernetes = "v0.36.4"

// newestKubernetes is the line that the workspace tests them against.
const newestKubernetes = "v0.37.2"

func TestPackageBudgets(t *testing.T) {
	h := open(t)
	for pattern, budget := range budgets {
		m, err := h.Module(strings.TrimSuffix(pattern, "/..."))
		if err != nil {
			if m, err = h.Module(filepath.Dir(pattern)); err != nil {
				t.Fatal(err)
			}
		}
		t.Run("MOD-2 "+pattern, func(t *testing.T) {
			var beyond []string
			args := append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, own(t, h, m, pattern)...)
			for _, pkg := range goLines(t, h, ".", args...) {
				if !strings.HasPrefix(pkg, house.Prefix+"/") {
					beyond = append(beyond, pkg)
				}
			}
			if len(beyond) > budget {
				t.Errorf("%d packages beyond the standard library, want at most %d: %s", len(beyond), budget, strings.Join(beyond, " "))
			}
		})
	}
}

func TestRequirementsOfLibraries(t *testing.T) {
	eachLibrary(t, "MOD-2 oldest Kubernetes line:", func(t *testing.T, h *house.House, m house.Module) {
		for _, req := range requires(t, h, m) {
			if ofKubernetes(req.Mod) && !req.Indirect && req.Mod.Version != oldestKubernetes {
				t.Errorf("requires %s, want %s", req.Mod, oldestKubernetes)
			}
		}
	})
	eachLibrary(t, "MOD-2 test dependencies:", func(t *testing.T, h *house.House, m house.Module) {
		packages := own(t, h, m, m.Dir+"/...")
		modules := func(flags ...string) []string {
			args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, flags...)
			return goLines(t, h, ".", append(args, packages...)...)
		}
		code := modules()
		for _, used := range modules("-test") {
			if !slices.Contains(code, used) && !allowedInTests(used) {
				t.Errorf("tests bring along the module %s, want testify and rapid alone", used)
			}
		}
	})
	t.Run("MOD-2 the workspace tests against the newest Kubernetes line", func(t *testing.T) {
		h := open(t)
		got := goLines(t, h, ".", "list", "-m", "-f", "{{.Version}}", "k8s.io/apimachinery")
		if !slices.Equal(got, []string{newestKubernetes}) {
			t.Errorf("the workspace builds with k8s.io/apimachinery %v, want %s", got, newestKubernetes)
		}
	})
}

// own returns the packages of the pattern that belong to the module itself: the go
// command also finds those of modules nested in its directory.
func own(t *testing.T, h *house.House, m house.Module, pattern string) []string {
	t.Helper()
	return goLines(t, h, ".", "list", "-f", `{{if eq .Module.Path "`+m.Path()+`"}}{{.ImportPath}}{{end}}`, house.Prefix+"/"+pattern)
}

func requires(t *testing.T, h *house.House, m house.Module) []*modfile.Require {
	t.Helper()
	name := filepath.Join(h.Root, m.Dir, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(name, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Replace {
		t.Errorf("%s replaces %s: a published module must not", m.Dir, r.Old.Path)
	}
	return mod.Require
}

// ofKubernetes reports whether the module is released with Kubernetes, under its
// version numbers: v0.36.4 is Kubernetes 1.36.4. Its other modules have none of their
// own, or v1 and up.
func ofKubernetes(m module.Version) bool {
	return strings.HasPrefix(m.Path, "k8s.io/") && semver.Major(m.Version) == "v0" && !module.IsPseudoVersion(m.Version)
}

// allowedInTests also lets a test use sibling modules.
func allowedInTests(path string) bool {
	return path == "pgregory.net/rapid" || path == "github.com/stretchr/testify" || strings.HasPrefix(path, house.Prefix+"/")
}
