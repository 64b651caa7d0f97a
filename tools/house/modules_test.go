package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/house"
)

func TestParseList(t *testing.T) {
	got, err := house.ParseList("# a comment\n\na/b v0.1.0 library # why\npeers/c v0.0.0 peers\n")
	want := []house.Module{{Dir: "a/b", Version: "v0.1.0", Kind: house.Library}, {Dir: "peers/c", Version: "v0.0.0", Kind: house.Peers}}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Fatalf("ParseList = %v, %v, want %v", got, err, want)
	}
	for text, rule := range map[string]string{
		"a v0.1.0":                                "fields",
		"a 1.0 library":                           "semantic",
		"a v0.1.0 shed":                           "kind",
		"a v0.1.0 library\na v0.2.0 library":      "duplicate",
		"a v0.1.0 library\nb v0.1.0 library  x y": "fields",
	} {
		if _, err := house.ParseList(text); err == nil || !strings.Contains(err.Error(), rule) || !strings.Contains(err.Error(), "line") {
			t.Errorf("ParseList(%q) error = %v, want the line and %q", text, err, rule)
		}
	}
}

// tree makes a checkout of two modules, the second of which requires the first.
func tree(t *testing.T) *house.House {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"modules.txt":         "below v0.1.0 library\nabove v0.2.0 tool\npeers/x v0.0.0 peers\n",
		"below/go.mod":        "module " + house.Prefix + "/below\n",
		"below/below.go":      "package below\n",
		"below/nested/go.mod": "module " + house.Prefix + "/below/nested\n",
		"below/nested/n.go":   "package nested\n",
		"above/go.mod":        "module " + house.Prefix + "/above\n\nrequire " + house.Prefix + "/below v0.1.0\n",
		"peers/x/go.mod":      "module " + house.Prefix + "/peers/x\n",
	} {
		put(t, root, name, text)
	}
	h, err := house.Open(filepath.Join(root, "below"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWorkFile(t *testing.T) {
	work := tree(t).WorkFile()
	for _, line := range []string{"\t./below\n", "\t./above\n", "\t" + house.Prefix + "/above v0.2.0 => ./above\n"} {
		if !strings.Contains(work, line) {
			t.Errorf("go.work lacks %q:\n%s", line, work)
		}
	}
	if strings.Contains(work, "peers") {
		t.Errorf("go.work names a module outside the workspace:\n%s", work)
	}
}

func TestWorkFileIsTheTrees(t *testing.T) {
	h, err := house.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(h.Root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != h.WorkFile() {
		t.Errorf("go.work is not what `make work` writes")
	}
}

func TestOpenRefusesAModuleThatIsNotThere(t *testing.T) {
	root := t.TempDir()
	put(t, root, "modules.txt", "gone v0.1.0 library\n")
	if _, err := house.Open(root); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("Open error = %v, want one that names the module", err)
	}
}

func TestDigest(t *testing.T) {
	h := tree(t)
	above, err := h.Module("above")
	if err != nil {
		t.Fatal(err)
	}
	digest := func() string {
		d, err := h.Digest(above)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before := digest()
	put(t, h.Root, "below/README.md", "words")
	put(t, h.Root, "below/nested/n.go", "package nested // changed\n")
	if digest() != before {
		t.Error("the digest changed with a README and with a module that is not required")
	}
	put(t, h.Root, "below/below.go", "package below // changed\n")
	if digest() == before {
		t.Error("the digest did not change with a sibling")
	}
}
