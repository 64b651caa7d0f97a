package promises_test

import (
	"go/ast"
	"go/doc"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/apilist"
	"github.com/lanyard-dev/lanyard/tools/house"
	"github.com/lanyard-dev/lanyard/tools/testrun"
)

// parses matches the verbs whose functions turn outside text into values.
var parses = regexp.MustCompile(`^(Parse|Decode|Unmarshal|Read|Load)`)

func TestLaws(t *testing.T) {
	eachLibrary(t, "MOD-4 laws:", func(t *testing.T, h *house.House, m house.Module) {
		if !strings.Contains(testText(t, h, m), "*rapid.T") {
			t.Error("no property test")
		}
	})
	eachLibrary(t, "MOD-4 a fuzz target for every parser:", func(t *testing.T, h *house.House, m house.Module) {
		fuzzed := fuzzText(t, h, m)
		for _, p := range exported(t, h, m) {
			for _, name := range parsers(p) {
				called := regexp.MustCompile(`\b` + name + `\(`).MatchString(fuzzed)
				named := regexp.MustCompile(`(?i)func Fuzz` + p.Doc.Name + `\(`).MatchString(fuzzed)
				if !called && !named {
					t.Errorf("%s.%s is called by no test file with a fuzz target, and none is named after its package", p.Path, name)
				}
			}
		}
	})
	t.Run("MOD-4 the race detector is on", func(t *testing.T) {
		h := open(t)
		for _, m := range h.Select(house.Library, house.Tool, house.Examples) {
			commands, err := testrun.Commands(h, []house.Module{m})
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range commands {
				if !slices.Contains(args, "-race") {
					t.Errorf("the tests of %s run without it: go %s", m.Dir, strings.Join(args, " "))
				}
			}
		}
	})
}

// parsers returns the exported functions of p that parse text or bytes.
func parsers(p *apilist.Package) []string {
	var out []string
	add := func(fs []*doc.Func) {
		for _, f := range fs {
			if parses.MatchString(f.Name) && takesText(f.Decl) {
				out = append(out, f.Name)
			}
		}
	}
	add(p.Doc.Funcs)
	for _, typ := range p.Doc.Types {
		add(typ.Funcs)
	}
	return out
}

func takesText(decl *ast.FuncDecl) bool {
	for _, param := range decl.Type.Params.List {
		switch typ := param.Type.(type) {
		case *ast.Ident:
			if typ.Name == "string" {
				return true
			}
		case *ast.ArrayType:
			if elem, ok := typ.Elt.(*ast.Ident); ok && (elem.Name == "byte" || elem.Name == "string") {
				return true
			}
		case *ast.SelectorExpr:
			if typ.Sel.Name == "Reader" {
				return true
			}
		}
	}
	return false
}

func testText(t *testing.T, h *house.House, m house.Module) string {
	t.Helper()
	var b strings.Builder
	for _, file := range testFiles(t, h, m) {
		b.WriteString(file)
	}
	return b.String()
}

func fuzzText(t *testing.T, h *house.House, m house.Module) string {
	t.Helper()
	var b strings.Builder
	for _, file := range testFiles(t, h, m) {
		if strings.Contains(file, "func Fuzz") {
			b.WriteString(file)
		}
	}
	return b.String()
}

// testFiles returns the texts of the module's own test files: those of a module nested
// in its directory prove nothing about it.
func testFiles(t *testing.T, h *house.House, m house.Module) []string {
	t.Helper()
	var out []string
	for _, dir := range goLines(t, h, ".", append([]string{"list", "-f", "{{.Dir}}"}, own(t, h, m, m.Dir+"/...")...)...) {
		names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(data))
		}
	}
	return out
}
