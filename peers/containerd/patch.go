package containerd

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ErrShape is what every error of Apply unwraps to but those of the parser: the source is not as expected.
var ErrShape = errors.New("unexpected shape of the source")

// Patch is what is inserted into one file.
type Patch struct {
	File    string // within the module
	Imports []Import
	Places  []Place
}

// Import is an import to be added. Name is empty if it is the last element of Path.
type Import struct{ Name, Path string }

// Place is where lines are inserted.
type Place struct {
	In    string // a function, method or struct type, as "Run", "(*service).Exec", "options"
	Where Where
	Why   string // for the table
	Lines string // whole lines, formatted, with their indentation
}

// Where is a place within a function or a struct type.
type Where struct {
	words string // for people
	find  func(s source, in ast.Node) (token.Pos, error)
}

// String returns where, in a few words.
func (w Where) String() string { return w.words }

// Apply returns the source with all that p inserts. Everything else stays byte for byte.
//
// The error names the file, and the function or type where there is one. It unwraps to [ErrShape] when a place is not
// there exactly once, when an import or its name is there already, as it is after Apply, or when the result would not be
// formatted as gofmt does.
func (p Patch) Apply(src []byte) ([]byte, error) {
	s := source{file: p.File, text: src, set: token.NewFileSet()}
	var err error
	if s.tree, err = parser.ParseFile(s.set, p.File, src, parser.ParseComments); err != nil {
		return nil, err
	}
	var all []insertion
	for _, place := range p.Places {
		in, err := s.declaration(place.In)
		if err != nil {
			return nil, err
		}
		at, err := place.Where.find(s, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.File, place.In, err)
		}
		all = append(all, insertion{s.offset(at), place.Lines})
	}
	imports, err := s.imports(p.Imports)
	if err != nil {
		return nil, err
	}
	out := insert(src, append(all, imports))
	if formatted, err := format.Source(out); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.File, ErrShape, err)
	} else if !bytes.Equal(formatted, out) {
		return nil, s.broken("the result is not formatted as gofmt does")
	}
	return out, nil
}

// insertion is text that goes to an offset.
type insertion struct {
	offset int
	text   string
}

func insert(src []byte, all []insertion) []byte {
	slices.SortStableFunc(all, func(a, b insertion) int { return a.offset - b.offset })
	var out bytes.Buffer
	done := 0
	for _, i := range all {
		out.Write(src[done:i.offset])
		out.WriteString(i.text)
		done = i.offset
	}
	out.Write(src[done:])
	return out.Bytes()
}

// source is a parsed file.
type source struct {
	file string
	text []byte
	set  *token.FileSet
	tree *ast.File
}

func (s source) broken(message string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", s.file, ErrShape, fmt.Sprintf(message, args...))
}

func shape(message string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrShape, fmt.Sprintf(message, args...))
}

func (s source) offset(p token.Pos) int { return s.set.Position(p).Offset }

// print is the text of the node.
func (s source) print(n ast.Node) string { return string(s.text[s.offset(n.Pos()):s.offset(n.End())]) }

// lineStart is where the line of p begins, which must have nothing but blanks before p.
func (s source) lineStart(p token.Pos) (token.Pos, error) {
	start := s.set.File(p).LineStart(s.set.Position(p).Line)
	if before := s.text[s.offset(start):s.offset(p)]; len(bytes.TrimSpace(before)) > 0 {
		return 0, shape("line %d does not begin there", s.set.Position(p).Line)
	}
	return start, nil
}

// lineAfter is where the line after that of p begins.
func (s source) lineAfter(p token.Pos) (token.Pos, error) {
	f := s.set.File(p)
	line := s.set.Position(p).Line
	if line >= f.LineCount() {
		return 0, shape("no line after line %d", line)
	}
	if after := s.text[s.offset(p):s.offset(f.LineStart(line+1))]; len(bytes.TrimSpace(after)) > 0 {
		return 0, shape("line %d does not end there", line)
	}
	return f.LineStart(line + 1), nil
}

// declaration finds the function, method or struct type: a *ast.BlockStmt or a *ast.StructType.
func (s source) declaration(name string) (found ast.Node, err error) {
	n := 0
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if s.funcName(d) == name && d.Body != nil {
				found = d.Body
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == name {
					if st, ok := t.Type.(*ast.StructType); ok {
						found = st
						n++
					}
				}
			}
		}
	}
	if n != 1 {
		return nil, s.broken("%d functions or struct types %s, want 1", n, name)
	}
	return found, nil
}

func (s source) funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return d.Name.Name
	}
	return fmt.Sprintf("(%s).%s", s.print(d.Recv.List[0].Type), d.Name.Name)
}

// imports is the insertion of a group of imports at the end of the import block.
func (s source) imports(add []Import) (insertion, error) {
	if len(add) == 0 {
		return insertion{}, nil
	}
	for _, have := range s.tree.Imports {
		for _, i := range add {
			at, _ := strconv.Unquote(have.Path.Value)
			if at == i.Path {
				return insertion{}, s.broken("it imports %s already", at)
			}
			if name := localName(have, at); name == i.local() {
				return insertion{}, s.broken("its name %s is that of %s already", name, at)
			}
		}
	}
	for _, d := range s.tree.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT && d.Rparen.IsValid() {
			var text strings.Builder
			text.WriteByte('\n')
			for _, i := range add {
				text.WriteString("\t" + strings.TrimLeft(i.Name+" ", " ") + strconv.Quote(i.Path) + "\n")
			}
			at, err := s.lineStart(d.Rparen)
			if err != nil {
				return insertion{}, fmt.Errorf("%s: imports: %w", s.file, err)
			}
			return insertion{s.offset(at), text.String()}, nil
		}
	}
	return insertion{}, s.broken("no import block in parentheses")
}

func localName(have *ast.ImportSpec, at string) string {
	if have.Name != nil {
		return have.Name.Name
	}
	return path.Base(at)
}

func (i Import) local() string {
	if i.Name != "" {
		return i.Name
	}
	return path.Base(i.Path)
}

// BeforeCall is before the statement of the function's own block that calls the function.
func BeforeCall(function string) Where {
	return Where{"before the call of `" + function + "`", func(s source, in ast.Node) (token.Pos, error) {
		statement, err := s.statement(in, "call "+function, func(st ast.Stmt) bool { return s.calls(st, function) > 0 })
		if err != nil {
			return 0, err
		}
		return s.lineStart(statement.Pos())
	}}
}

// AfterIf is after the if statement of the function's own block with the condition, in which alone the function is
// called.
func AfterIf(condition, function string) Where {
	return Where{"after `if " + condition + "`", func(s source, in ast.Node) (token.Pos, error) {
		statement, err := s.statement(in, "call "+function, func(st ast.Stmt) bool { return s.calls(st, function) > 0 })
		if err != nil {
			return 0, err
		}
		if st, ok := statement.(*ast.IfStmt); !ok || s.print(st.Cond) != condition || st.Else != nil {
			return 0, shape("the call of %s is not in a statement \"if %s\" without else", function, condition)
		}
		return s.lineAfter(statement.End())
	}}
}

// LastElement is at the end of the one composite literal of the type, which has a line for each element.
func LastElement(typ string) Where {
	return Where{"in the literal `" + typ + "`", func(s source, in ast.Node) (token.Pos, error) {
		var found []*ast.CompositeLit
		ast.Inspect(in, func(n ast.Node) bool {
			if l, ok := n.(*ast.CompositeLit); ok && l.Type != nil && s.print(l.Type) == typ {
				found = append(found, l)
			}
			return true
		})
		if len(found) != 1 {
			return 0, shape("%d literals of %s, want 1", len(found), typ)
		}
		return s.lineStart(found[0].Rbrace)
	}}
}

// LastField is at the end of a struct type.
func LastField() Where {
	return Where{"its last field", func(s source, in ast.Node) (token.Pos, error) {
		t, ok := in.(*ast.StructType)
		if !ok {
			return 0, shape("it is not a struct type")
		}
		return s.lineStart(t.Fields.Closing)
	}}
}

// statement is the one statement of the function's own block that is asked for.
func (s source) statement(in ast.Node, what string, is func(ast.Stmt) bool) (ast.Stmt, error) {
	block, ok := in.(*ast.BlockStmt)
	if !ok {
		return nil, shape("it is not a function")
	}
	var found []ast.Stmt
	for _, st := range block.List {
		if is(st) {
			found = append(found, st)
		}
	}
	if len(found) != 1 {
		return nil, shape("%d statements %s, want 1", len(found), what)
	}
	return found[0], nil
}

// calls is how often the function is called in the node.
func (s source) calls(n ast.Node, function string) (count int) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && s.print(c.Fun) == function {
			count++
		}
		return true
	})
	return count
}
