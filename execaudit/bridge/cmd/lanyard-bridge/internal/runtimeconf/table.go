package runtimeconf

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// AddTable returns the patch that adds the table at the path, which must not be there, at the end of the text. Errors:
// [ErrSyntax], [ErrForm], [ErrHandler], [ErrMarked].
func AddTable(file string, text []byte, handler string, path []string, table map[string]any) (Patch, error) {
	want, err := parse(file, text)
	if err != nil {
		return Patch{}, err
	}
	if _, there := at(want, path[:len(path)-1]...)[path[len(path)-1]]; there {
		return Patch{}, fmt.Errorf("%s: %w %q is there already", file, ErrHandler, handler)
	}
	if !setAt(want, path, table) {
		return Patch{}, fmt.Errorf("%s: %w: %q is not a table", file, ErrForm, path[:len(path)-1])
	}
	body, err := write(path, table)
	if err != nil {
		return Patch{}, fmt.Errorf("%s: %w: handler %q", file, ErrForm, handler)
	}
	p := appendBlock(file, text, begin(handler, "")+"\n"+body+end(handler)+"\n")
	return p, check(p, handler, want)
}

// write returns the table as text: its own keys, then a header for each table in it, in the order of their names.
func write(path []string, table map[string]any) (string, error) {
	flat, nested := map[string]any{}, map[string]map[string]any{}
	for name, value := range table {
		if t, ok := value.(map[string]any); ok {
			nested[name] = t
		} else {
			flat[name] = value
		}
	}
	var text bytes.Buffer
	text.WriteString(header(path))
	encoder := toml.NewEncoder(&text)
	encoder.SetTablesInline(true)
	if err := encoder.Encode(flat); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(nested)) {
		inner, err := write(append(slices.Clone(path), name), nested[name])
		if err != nil {
			return "", err
		}
		text.WriteString(inner)
	}
	return text.String(), nil
}

func header(path []string) string {
	quoted := make([]string, len(path))
	for i, name := range path {
		quoted[i] = key(name)
	}
	return "[" + strings.Join(quoted, ".") + "]\n"
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func key(name string) string {
	if bare.MatchString(name) {
		return name
	}
	return quote(name)
}

// quote returns the text as a basic string.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
