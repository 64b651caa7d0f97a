package apilist

import (
	"go/ast"
	"go/doc"
	"slices"
	"strings"
)

// Names returns the exported top-level names of the package in order, methods not
// among them.
func (p *Package) Names() []string {
	var out []string
	p.eachTopLevel(func(name, _ string) { out = append(out, name) })
	slices.Sort(out)
	return out
}

// Undocumented returns the exported names without a doc comment of their own or of
// their group, in order; methods as Type.Method. Fields are not looked at.
func (p *Package) Undocumented() []string {
	var out []string
	if strings.TrimSpace(p.Doc.Doc) == "" {
		out = append(out, "package "+p.Doc.Name)
	}
	p.eachTopLevel(func(name, text string) {
		if strings.TrimSpace(text) == "" {
			out = append(out, name)
		}
	})
	for _, t := range p.Doc.Types {
		for _, f := range t.Methods {
			if strings.TrimSpace(f.Doc) == "" && !plain(f.Name) {
				out = append(out, t.Name+"."+f.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// plain reports whether a method is one of the standard interfaces whose contract
// needs no words.
func plain(method string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "Is", "As", "String", "GoString", "Len", "Less", "Swap"}, method)
}

func (p *Package) eachTopLevel(f func(name, text string)) {
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			for _, spec := range v.Decl.Specs {
				s := spec.(*ast.ValueSpec)
				for _, name := range s.Names {
					if name.IsExported() {
						f(name.Name, v.Doc+s.Doc.Text()+s.Comment.Text())
					}
				}
			}
		}
	}
	funcs := func(fs []*doc.Func) {
		for _, fn := range fs {
			f(fn.Name, fn.Doc)
		}
	}
	values(p.Doc.Consts)
	values(p.Doc.Vars)
	funcs(p.Doc.Funcs)
	for _, t := range p.Doc.Types {
		f(t.Name, t.Doc)
		values(t.Consts)
		values(t.Vars)
		funcs(t.Funcs)
	}
}

// Examples returns the names of the runnable examples of the packages: those whose
// output the go command checks.
func Examples(packages []*Package) []string {
	var out []string
	add := func(examples []*doc.Example) {
		for _, e := range examples {
			if e.Output != "" || e.EmptyOutput {
				out = append(out, "Example"+e.Name)
			}
		}
	}
	for _, p := range packages {
		add(p.Doc.Examples)
		for _, f := range p.Doc.Funcs {
			add(f.Examples)
		}
		for _, t := range p.Doc.Types {
			add(t.Examples)
			for _, f := range slices.Concat(t.Funcs, t.Methods) {
				add(f.Examples)
			}
		}
	}
	return out
}
