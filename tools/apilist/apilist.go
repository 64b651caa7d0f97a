// Package apilist lists what a module exports, as text that reads well in a diff.
package apilist

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// Package is one importable package of a module.
type Package struct {
	Path string // import path
	Doc  *doc.Package
	fset *token.FileSet
}

// Load reads the packages of m that others can import, in the order of their
// paths: no commands, no internal packages (except a module that is itself
// internal), no nested modules. Files are those that a build for linux/amd64 uses.
func Load(h *house.House, m house.Module) ([]*Package, error) {
	root := filepath.Join(h.Root, filepath.FromSlash(m.Dir))
	var out []*Package
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root && skipped(dir, d.Name()) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		p, err := load(dir, path.Join(m.Path(), filepath.ToSlash(rel)))
		if p != nil {
			out = append(out, p)
		}
		return err
	})
	return out, err
}

func skipped(dir, name string) bool {
	if name == "testdata" || name == "internal" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func load(dir, importPath string) (*Package, error) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", false
	found, err := ctx.ImportDir(dir, 0)
	var none *build.NoGoError
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if found.Name == "main" || len(found.GoFiles) == 0 { // a command, or tests alone
		return nil, nil
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.TestGoFiles, found.XTestGoFiles) {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return nil, err
	}
	return &Package{Path: importPath, Doc: d, fset: fset}, nil
}

// List returns the text of the listing: for each package its exported
// declarations without comments and bodies, in the order of their names.
func List(packages []*Package) string {
	var b strings.Builder
	for i, p := range packages {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "package %s\n\n", p.Path)
		for _, d := range p.declarations() {
			b.WriteString(d + "\n")
		}
	}
	return b.String()
}

func (p *Package) declarations() []string {
	var out []string
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			out = append(out, p.print(v.Decl))
		}
	}
	funcs := func(fs []*doc.Func) {
		for _, f := range fs {
			out = append(out, p.print(f.Decl))
		}
	}
	values(p.Doc.Consts)
	values(p.Doc.Vars)
	funcs(p.Doc.Funcs)
	for _, t := range p.Doc.Types {
		out = append(out, p.print(t.Decl))
		values(t.Consts)
		values(t.Vars)
		funcs(t.Funcs)
		funcs(t.Methods)
	}
	return out
}

// print renders a declaration without its comments; go/doc has already dropped
// bodies and what is not exported.
func (p *Package) print(decl ast.Decl) string {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc, n.Body = nil, nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	var b bytes.Buffer
	config := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
	if err := config.Fprint(&b, token.NewFileSet(), decl); err != nil {
		return err.Error()
	}
	return b.String()
}

// File returns where the listing of m is kept in the tree.
func File(h *house.House, m house.Module) string {
	return filepath.Join(h.Root, "api", strings.ReplaceAll(m.Dir, "/", "_")+".txt")
}
