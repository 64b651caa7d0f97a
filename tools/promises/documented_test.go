package promises_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/apilist"
	"github.com/lanyard-dev/lanyard/tools/house"
)

// generated is a package whose one name the generator gives no comment.
const generated = house.Prefix + "/examples/apiserver/openapi"

func TestDocumented(t *testing.T) {
	h := open(t)
	for _, m := range h.Select(house.Library, house.Examples) {
		t.Run("MOD-3 every exported name has a doc comment: "+m.Dir, func(t *testing.T) {
			for _, p := range exported(t, h, m) {
				if p.Path == generated {
					continue
				}
				for _, name := range p.Undocumented() {
					t.Errorf("%s: %s has no doc comment", p.Path, name)
				}
			}
		})
	}
	eachLibrary(t, "MOD-3 a runnable example:", func(t *testing.T, h *house.House, m house.Module) {
		if len(apilist.Examples(exported(t, h, m))) == 0 {
			t.Error("no example whose output is checked")
		}
	})
}

// minThreatWords is fewer than any honest answer needs.
const minThreatWords = 80

func TestThreatModels(t *testing.T) {
	eachLibrary(t, "MOD-7 threat model:", func(t *testing.T, h *house.House, m house.Module) {
		page, err := os.ReadFile(filepath.Join(h.Root, "docs", pageName(m)))
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(page), "\n## Threat model")
		if !found {
			t.Fatalf("docs/%s has no section \"Threat model\"", pageName(m))
		}
		section, _, _ = strings.Cut(section, "\n## ")
		if words := len(strings.Fields(section)); words < minThreatWords || !strings.Contains(section, "cannot") {
			t.Errorf("the threat model has %d words and must say what an attacker cannot forge", words)
		}
	})
}

// pageName returns the page of a module: a nested module stands on a page named
// after both.
func pageName(m house.Module) string {
	dir := strings.TrimPrefix(m.Dir, "internal/")
	return strings.ReplaceAll(dir, "/", "-") + ".md"
}

func TestListings(t *testing.T) {
	eachLibrary(t, "MOD-8 the listing is today's:", func(t *testing.T, h *house.House, m house.Module) {
		kept, err := os.ReadFile(apilist.File(h, m))
		if err != nil {
			t.Fatal(err)
		}
		now := apilist.List(exported(t, h, m))
		if changed := apilist.Changes(string(kept), now); string(kept) != now {
			t.Errorf("the exported API changed (%s): add a line to CHANGELOG.md and run `make api`", strings.Join(changed, ", "))
		}
	})
	eachLibrary(t, "MOD-8 the CHANGELOG names it:", func(t *testing.T, h *house.House, m house.Module) {
		changelog, err := os.ReadFile(filepath.Join(h.Root, m.Dir, "CHANGELOG.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range exported(t, h, m) {
			if missing := apilist.Unmentioned(p.Names(), string(changelog)); len(missing) > 0 {
				t.Errorf("%s: CHANGELOG.md names none of %s", p.Path, strings.Join(missing, ", "))
			}
		}
	})
}
