package promises_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// TestAliases holds every exported type to be one whose methods `go doc` shows: an alias shows none of those of the
// type that it names.
func TestAliases(t *testing.T) {
	eachLibrary(t, "MOD-3 no exported type is an alias of another package's:", func(t *testing.T, h *house.House, m house.Module) {
		for _, p := range exported(t, h, m) {
			dir := filepath.Join(h.Root, strings.TrimPrefix(p.Path, house.Prefix+"/"))
			for _, alias := range aliases(t, dir) {
				t.Errorf("%s: %s", p.Path, alias)
			}
		}
	})
}

// aliases returns the exported aliases in the package's files that name a type of another package, such as
// "Secret = pluginexec.Secret".
func aliases(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for node := range ast.Preorder(parsed) {
			spec, ok := node.(*ast.TypeSpec)
			if !ok || !spec.Assign.IsValid() || !spec.Name.IsExported() {
				continue
			}
			if selector, ok := spec.Type.(*ast.SelectorExpr); ok {
				out = append(out, strconv.Quote(spec.Name.Name+" = "+selector.X.(*ast.Ident).Name+"."+selector.Sel.Name))
			}
		}
	}
	return out
}
