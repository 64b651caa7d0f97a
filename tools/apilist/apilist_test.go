package apilist_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/apilist"
	"github.com/lanyard-dev/lanyard/tools/house"
)

const source = `// Package p is documented.
package p

// Limit is a bound.
const Limit = 1

const Bare = 2

// T is a type.
type T struct {
	A int // field
	b int
}

// M is a method.
func (t *T) M(x int) error { return nil }

func (T) N() {}

func hidden() {}

// Make makes.
func Make() *T { return nil }
`

const example = `package p_test

import "fmt"

func Example() {
	fmt.Println("x")
	// Output: x
}

func ExampleT_unchecked() {}
`

func load(t *testing.T) []*apilist.Package {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"p/p.go": source, "p/p_test.go": example, "p/cmd/p/main.go": "package main\n",
		"p/internal/q/q.go": "package q\n", "p/nested/go.mod": "module x\n", "p/nested/n.go": "package n\n",
		"p/tests/t_test.go": "package tests\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := apilist.Load(&house.House{Root: root}, house.Module{Dir: "p", Version: "v0.1.0", Kind: house.Library})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 1 {
		t.Fatalf("Load found %d packages, want p alone", len(packages))
	}
	return packages
}

func TestList(t *testing.T) {
	p := load(t)[0]
	got := apilist.List([]*apilist.Package{p})
	for _, part := range []string{"package " + house.Prefix + "/p\n", "const Limit = 1\n", "func Make() *T\n", "func (t *T) M(x int) error\n", "\tA int\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("List lacks %q:\n%s", part, got)
		}
	}
	for _, part := range []string{"hidden", "return", "// M is", "\tb "} {
		if strings.Contains(got, part) {
			t.Errorf("List holds %q:\n%s", part, got)
		}
	}
}

func TestDocumented(t *testing.T) {
	packages := load(t)
	if got, want := packages[0].Undocumented(), []string{"Bare", "T.N"}; !slices.Equal(got, want) {
		t.Errorf("Undocumented = %v, want %v", got, want)
	}
	if got, want := packages[0].Names(), []string{"Bare", "Limit", "Make", "T"}; !slices.Equal(got, want) {
		t.Errorf("Names = %v, want %v", got, want)
	}
	if got, want := apilist.Examples(packages), []string{"Example"}; !slices.Equal(got, want) {
		t.Errorf("Examples = %v, want %v", got, want)
	}
}

func TestChanges(t *testing.T) {
	before := "package p\n\nconst Limit = 1\nfunc Make() *T\ntype T struct {\n\tA int\n}\nfunc (t *T) M(x int) error\n"
	after := "package p\n\nconst Limit = 1\nfunc Make() T\ntype T struct {\n\tA int\n}\nfunc (t *T) M(x int64) error\nvar New = 1\n"
	if got, want := apilist.Changes(before, after), []string{"Make", "New", "T"}; !slices.Equal(got, want) {
		t.Errorf("Changes = %v, want %v", got, want)
	}
	if got := apilist.Unmentioned([]string{"Make", "Limit"}, "- `Make` makes a Limited thing"); !slices.Equal(got, []string{"Limit"}) {
		t.Errorf("Unmentioned = %v, want Limit", got)
	}
}
