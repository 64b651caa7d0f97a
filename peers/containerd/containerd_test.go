package containerd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/peers/containerd"
)

// source finds containerd's source in the module cache.
func source(t *testing.T) (version, dir string) {
	t.Helper()
	ask := func(args ...string) []byte {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %q: %v", args, err)
		}
		return out
	}
	version = strings.TrimSpace(string(ask("list", "-m", "-f", "{{.Version}}", containerd.Module)))
	var module struct{ Dir string }
	if err := json.Unmarshal(ask("mod", "download", "-json", containerd.Module+"@"+version), &module); err != nil {
		t.Fatal(err)
	}
	return version, module.Dir
}

// TestContainerd applies the patches to the real source.
func TestContainerd(t *testing.T) {
	version, dir := source(t)
	t.Run("EXA-37 lines are added and none is changed, and as many as counted", func(t *testing.T) {
		added := 0
		for _, p := range containerd.Patches() {
			before, err := os.ReadFile(filepath.Join(dir, p.File))
			if err != nil {
				t.Fatal(err)
			}
			after, err := p.Apply(before)
			if err != nil {
				t.Fatal(err)
			}
			added += onlyAdded(t, string(before), string(after))
		}
		c := containerd.Count(containerd.Patches())
		if want := c.Lines + c.Imports; added != want {
			t.Errorf("%d lines were added, counted are %d", added, want)
		}
	})
	t.Run("EXA-37 the table in the docs is the one that go generate writes", func(t *testing.T) {
		document, err := os.ReadFile("../../docs/runtime-authors.md")
		if err != nil {
			t.Fatal(err)
		}
		renewed, err := containerd.Renew(string(document), containerd.Table(version, containerd.Patches()))
		if err != nil || renewed != string(document) {
			t.Errorf("run go generate in peers/containerd: %v", err)
		}
	})
	t.Run("EXA-37 the Makefile builds the version that is patched", func(t *testing.T) {
		makefile, err := os.ReadFile("../../Makefile")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(makefile)) {
			if pinned, ok := strings.CutPrefix(line, "CONTAINERD_VERSION"); ok {
				if got := strings.TrimSpace(strings.TrimLeft(pinned, " :=")); got != version {
					t.Errorf("the Makefile pins %s, go.mod %s", got, version)
				}
				return
			}
		}
		t.Error("no CONTAINERD_VERSION in the Makefile")
	})
}

// onlyAdded fails the test unless the lines of before come in after, in order. It returns how many others there are that
// are not blank.
func onlyAdded(t *testing.T, before, after string) (added int) {
	t.Helper()
	rest := strings.Split(before, "\n")
	for line := range strings.SplitSeq(after, "\n") {
		switch {
		case len(rest) > 0 && line == rest[0]:
			rest = rest[1:]
		case strings.TrimSpace(line) != "":
			added++
		}
	}
	if len(rest) > 0 {
		t.Errorf("changed or gone: %q", rest[0])
	}
	return added
}

func TestRenew(t *testing.T) {
	const begins, ends = "<!-- generated: containerd -->\n", "<!-- /generated -->\n"
	t.Run("EXA-37 only what is between the markers changes", func(t *testing.T) {
		got, err := containerd.Renew("a\n"+begins+"old\n"+ends+"b\n", "new\n")
		if want := "a\n" + begins + "new\n" + ends + "b\n"; err != nil || got != want {
			t.Errorf("Renew = %q, %v, want %q", got, err, want)
		}
	})
	for name, document := range map[string]string{
		"no markers":  "a\n",
		"no end":      begins,
		"end first":   ends + begins,
		"two of them": begins + ends + begins + ends,
	} {
		t.Run("EXA-37 a document is refused: "+name, func(t *testing.T) {
			if got, err := containerd.Renew(document, "new\n"); err == nil {
				t.Errorf("Renew = %q", got)
			}
		})
	}
}
