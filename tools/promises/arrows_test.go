package promises_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// arrows are the siblings that a published module may import, tests excluded
// (docs/design.md). A module may also import the modules in whose directory it is nested, and a command
// those of its family and ofCommands.
var arrows = map[string][]string{
	"redact":                {},
	"internal/flight":       {},
	"internal/terminal":     {},
	"envprecedence":         {"redact"},
	"execaudit":             {"envprecedence", "redact"},
	"execaudit/journal":     {},
	"execaudit/attribution": {"execaudit/journal", "redact", "internal/terminal"},
	"execaudit/bridge":      {"execaudit/journal", "envprecedence", "redact"},
	"execaudit/agent":       {"execaudit/journal", "execaudit/attribution", "redact", "internal/terminal"},
	"supgroups":             {},
	"kubeletauthz":          {"internal/flight", "redact"},
	"kubeletauthz/apiserver": {
		"redact",
	},
	"pluginexec":                          {"redact"},
	"credprovider":                        {"pluginexec", "redact", "internal/flight"},
	"execcredential":                      {"pluginexec", "redact", "internal/flight"},
	"execcredential/restconfig":           {"redact"},
	"criconformance":                      {"execaudit", "supgroups", "envprecedence", "redact", "internal/terminal"},
	"execaudit/bridge/cmd/lanyard-oci":    {"envprecedence"},
	"execaudit/bridge/cmd/lanyard-bridge": {"execaudit/journal"},
	"execaudit/agent/cmd/execaudit-agent": {"execaudit/journal", "execaudit/attribution", "execaudit/bridge"},
	"execaudit/cmd/execaudit":             {},
	"supgroups/cmd/supgroups":             {},
	"kubeletauthz/cmd/kubeletauthz":       {},
	"credprovider/cmd/credprovider":       {},
	"execcredential/cmd/execcredential":   {"pluginexec"},
	"criconformance/cmd/criconformance":   {},
}

// ofCommands are what every command may import.
var ofCommands = []string{"redact", "internal/terminal"}

func TestArrows(t *testing.T) {
	h := open(t)
	for _, m := range h.Select(house.Library, house.Tool) {
		t.Run("imports of "+m.Dir, func(t *testing.T) {
			allowed, listed := arrows[m.Dir]
			if !listed {
				t.Fatalf("%s is not in the table of arrows: say in tools/promises/arrows_test.go and in docs/design.md which siblings it may import", m.Dir)
			}
			for _, sibling := range imported(t, h, m) {
				if !slices.Contains(allowed, sibling) && !related(m, sibling) {
					t.Errorf("it imports %s, want at most %v", sibling, allowed)
				}
			}
		})
	}
}

// related reports whether the module is nested in the directory of the sibling, or is a
// command of the sibling's family.
func related(m house.Module, sibling string) bool {
	if strings.HasPrefix(m.Dir, sibling+"/") {
		return true
	}
	family, _, command := strings.Cut(m.Dir, "/cmd/")
	return command && (strings.HasPrefix(sibling, family+"/") || slices.Contains(ofCommands, sibling))
}

// imported returns the siblings whose packages the module's own packages import on
// any system, each once.
func imported(t *testing.T, h *house.House, m house.Module) []string {
	t.Helper()
	var out []string
	for _, system := range []string{"linux", "windows"} {
		cmd := []string{"list", "-f", `{{if eq .Module.Path "` + m.Path() + `"}}{{join .Imports "\n"}}{{end}}`, m.Path() + "/..."}
		for _, pkg := range goLinesFor(t, h, system, cmd...) {
			if dir, ok := h.Owner(pkg); ok && dir != m.Dir && !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	}
	return out
}

func TestRelated(t *testing.T) {
	for _, row := range []struct {
		module, sibling string
		want            bool
	}{
		{"a/nested", "a", true},
		{"a", "a/nested", false},
		{"a/cmd/a", "a", true},
		{"a/cmd/a", "a/nested", true},
		{"a/cmd/a", "b", false},
		{"a/cmd/a", "redact", true},
		{"ab", "a", false},
	} {
		if got := related(house.Module{Dir: row.module}, row.sibling); got != row.want {
			t.Errorf("related(%s, %s) = %v, want %v", row.module, row.sibling, got, row.want)
		}
	}
}
