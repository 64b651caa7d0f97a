package runtimeconf

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parse returns the text as a tree. Its error is [ErrSyntax].
func parse(path string, text []byte) (map[string]any, error) {
	tree := map[string]any{}
	if err := toml.Unmarshal(text, &tree); err != nil {
		// The error's text can show the file's lines, which may hold credentials.
		return nil, fmt.Errorf("%s: %w%s", path, ErrSyntax, position(err))
	}
	return tree, nil
}

func position(err error) string {
	decode, ok := err.(*toml.DecodeError)
	if !ok {
		return ""
	}
	row, column := decode.Position()
	return fmt.Sprintf(": line %d, column %d", row, column)
}

// SetString returns the patch after which the key at the end of the path has the value, and everything else in the text
// is as it was. The marks name the handler. Errors: [ErrSyntax], [ErrForm], [ErrMarked] for a mark of that handler.
func SetString(file string, text []byte, handler string, path []string, value string) (Patch, error) {
	want, err := parse(file, text)
	if err != nil {
		return Patch{}, err
	}
	if !setAt(want, path, value) {
		return Patch{}, fmt.Errorf("%s: %w: %q is not a table", file, ErrForm, path[:len(path)-1])
	}
	at, err := find(file, text, path)
	if err != nil {
		return Patch{}, err
	}
	newline := "\n"
	if at.line.end < len(text) && text[at.line.end] == '\r' {
		newline = "\r\n"
	}
	var p Patch
	switch {
	case at.value.end > 0:
		if bytes.ContainsAny(text[at.value.start:at.value.end], "\r\n") {
			return Patch{}, fmt.Errorf("%s: %w: %q is a string of several lines", file, ErrForm, path)
		}
		line := string(text[at.line.start:at.line.end])
		replaced := line[:at.value.start-at.line.start] + quote(value) + line[at.value.end-at.line.start:]
		lines := begin(handler, "instead of: "+string(bytes.TrimSpace([]byte(line)))) + newline + replaced + newline + end(handler)
		p = place(file, text, at.line.start, at.line.end, lines)
	case at.line.end > 0:
		lines := newline + begin(handler, "") + newline + key(path[len(path)-1]) + " = " + quote(value) + newline + end(handler)
		p = place(file, text, at.line.end, at.line.end, lines)
	default:
		p = appendBlock(file, text, begin(handler, "")+"\n"+header(path[:len(path)-1])+key(path[len(path)-1])+" = "+quote(value)+"\n"+end(handler)+"\n")
	}
	return p, check(p, handler, want)
}

// check returns an error unless the patch does what is wanted, and can be taken back.
func check(p Patch, handler string, want map[string]any) error {
	if bytes.Contains(p.Before, []byte(begin(handler, ""))) || bytes.Contains(p.Before, []byte(end(handler))) {
		return fmt.Errorf("%s: %w: handler %q", p.Path, ErrMarked, handler)
	}
	got, err := parse(p.Path, p.After)
	if err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s: %w: the table of handler %q cannot be changed where it is; write it as a table with a header", p.Path, ErrForm, handler)
	}
	if back, err := p.Undo(p.After); err != nil || !bytes.Equal(back, p.Before) {
		return fmt.Errorf("%s: %w: handler %q", p.Path, ErrMarked, handler)
	}
	return nil
}

type span struct{ start, end int }

// position of a key: the line and the value of its definition, or the line of its table's header, or neither.
type found struct{ line, value span }

func find(file string, text []byte, path []string) (at found, err error) {
	var p unstable.Parser
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		names, last := keys(e.Key())
		switch e.Kind {
		case unstable.ArrayTable:
			table = []string{"\x00"} // no path leads into one
		case unstable.Table:
			if table = names; slices.Equal(table, path[:len(path)-1]) {
				at.line = lineOf(text, int(last.Offset))
			}
		case unstable.KeyValue:
			if !slices.Equal(slices.Concat(table, names), path) {
				continue
			}
			v := e.Value()
			if v.Kind != unstable.String {
				return found{}, fmt.Errorf("%s: %w: %q is not a string", file, ErrForm, path)
			}
			at.value = span{int(v.Raw.Offset), int(v.Raw.Offset + v.Raw.Length)}
			at.line = lineOf(text, at.value.start)
			return at, nil
		}
	}
	if p.Error() != nil {
		return found{}, fmt.Errorf("%s: %w", file, ErrSyntax)
	}
	return at, nil
}

func keys(it unstable.Iterator) (names []string, last unstable.Range) {
	for it.Next() {
		names, last = append(names, string(it.Node().Data)), it.Node().Raw
	}
	return names, last
}

// lineOf returns the line around the offset, without its end.
func lineOf(text []byte, offset int) span {
	s := span{bytes.LastIndexByte(text[:offset], '\n') + 1, len(text)}
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		s.end = offset + i
	}
	if s.end > s.start && s.end < len(text) && text[s.end-1] == '\r' {
		s.end--
	}
	return s
}

// setAt sets the value in the tree, and returns false where a table would go into something else.
func setAt(tree map[string]any, path []string, value any) bool {
	for _, name := range path[:len(path)-1] {
		next, ok := tree[name]
		if !ok {
			next = map[string]any{}
			tree[name] = next
		}
		if tree, ok = next.(map[string]any); !ok {
			return false
		}
	}
	tree[path[len(path)-1]] = value
	return true
}

// at returns the table at the path, or nil.
func at(tree map[string]any, path ...string) map[string]any {
	for _, name := range path {
		tree, _ = tree[name].(map[string]any)
	}
	return tree
}
