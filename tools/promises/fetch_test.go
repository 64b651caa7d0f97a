package promises_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/modproxy"
)

// proxyOf builds the proxy of the tree in the test's own directory.
func proxyOf(t *testing.T, root string, modules []house.Module) *modproxy.Proxy {
	t.Helper()
	p, err := modproxy.Build(t.TempDir(), root, modules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// proved calls f unless it went well before with the same content.
func proved(t *testing.T, h *house.House, name string, m house.Module, f func()) {
	t.Helper()
	proof, err := h.Proof(name, m)
	if err != nil {
		t.Fatal(err)
	}
	if proof.Kept() {
		t.Log("proved before, with the same content")
		return
	}
	if f(); t.Failed() {
		return
	}
	if err := proof.Keep(); err != nil {
		t.Error(err)
	}
}

func TestFetchedByVersion(t *testing.T) {
	h := open(t)
	err := modproxy.With(h, func(p *modproxy.Proxy) error {
		t.Run("all", func(t *testing.T) { // ends when the parallel ones have, and they need the lock
			for _, m := range h.Select(house.Library, house.Tool) {
				fetched(t, h, p, m)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func fetched(t *testing.T, h *house.House, p *modproxy.Proxy, m house.Module) {
	t.Run("MOD-1 "+m.Dir+" builds, vets and tests alone", func(t *testing.T) {
		t.Parallel()
		proved(t, h, "alone", m, func() {
			var said strings.Builder
			if err := p.Prove(&said, m); err != nil {
				t.Errorf("%v\n%s", err, said.String())
			}
		})
	})
	switch {
	case m.Kind == house.Tool:
		t.Run("MOD-1 "+m.Dir+" installs", func(t *testing.T) {
			t.Parallel()
			proved(t, h, "installs", m, func() {
				var said strings.Builder
				if err := p.Install(&said, m); err != nil {
					t.Errorf("%v\n%s", err, said.String())
				}
			})
		})
	case !m.Internal():
		t.Run("MOD-1 "+m.Dir+" serves a fresh consumer with its README's example", func(t *testing.T) {
			t.Parallel()
			proved(t, h, "serves", m, func() { serves(t, h, p, m) })
		})
	}
}

func serves(t *testing.T, h *house.House, p *modproxy.Proxy, m house.Module) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(h.Root, m.Dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := modproxy.Example(string(readme))
	if err != nil {
		t.Fatal(err)
	}
	printed, err := p.Consume(m, program)
	if err != nil {
		t.Fatal(err)
	}
	if printed == "" {
		t.Error("the example prints nothing")
	}
}

// TestChangedSibling changes a module that another requires, without a change of
// its version: what the other sees must be the change.
func TestChangedSibling(t *testing.T) {
	t.Run("MOD-1 a changed sibling is seen", func(t *testing.T) {
		root, at := repository(t), t.TempDir()
		modules := []house.Module{
			{Dir: "below", Version: "v0.1.0", Kind: house.Library},
			{Dir: "above", Version: "v0.1.0", Kind: house.Library},
		}
		write(t, root, "below/go.mod", "module "+modules[0].Path()+"\n\ngo 1.25\n")
		write(t, root, "above/go.mod", "module "+modules[1].Path()+"\n\ngo 1.25\n\nrequire "+modules[0].Path()+" v0.1.0\n")
		write(t, root, "above/above.go", "package above\n\nimport \""+modules[0].Path()+"\"\n\nconst Said = below.Said\n")
		program := "package main\n\nimport \"" + modules[1].Path() + "\"\n\nfunc main() { print2(above.Said) }\n\nfunc print2(s string) { _, _ = os.Stdout.WriteString(s) }\n"
		program = strings.Replace(program, "import \"", "import \"os\"\nimport \"", 1)
		for _, want := range []string{"before", "after"} {
			write(t, root, "below/below.go", "package below\n\nconst Said = \""+want+"\"\n")
			p, err := modproxy.Build(at, root, modules)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Consume(modules[1], program)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("consumer printed %q, want %q", got, want)
			}
		}
	})
	t.Run("MOD-1 a broken sibling breaks the proof", func(t *testing.T) {
		root := repository(t)
		m := house.Module{Dir: "broken", Version: "v0.1.0", Kind: house.Library}
		write(t, root, "broken/go.mod", "module "+m.Path()+"\n\ngo 1.25\n")
		write(t, root, "broken/broken.go", "package broken\n\nvar X int = \"no number\"\n")
		var said strings.Builder
		if err := proxyOf(t, root, []house.Module{m}).Prove(&said, m); err == nil {
			t.Error("Prove of a module that does not compile = nil error")
		}
	})
}

func TestExampleOfReadme(t *testing.T) {
	text := "```go\nx := 1\n```\n\n```go\npackage main\n\nfunc main() {}\n```\n"
	got, err := modproxy.Example(text)
	if err != nil || got != "package main\n\nfunc main() {}\n" {
		t.Errorf("Example = %q, %v, want the second block", got, err)
	}
	if _, err := modproxy.Example("no code"); !errors.Is(err, modproxy.ErrNoExample) {
		t.Errorf("Example without code: error %v, want ErrNoExample", err)
	}
}

// repository makes an empty repository.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	git(t, root, "init", "-q")
	return root
}

func git(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=nobody", "-c", "user.email=nobody@example.com"}, args...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
