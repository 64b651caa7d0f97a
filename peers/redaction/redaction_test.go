package redaction

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestRedaction prints every exported type of the house with a marker in each field. A field that shows is one that
// may.
func TestRedaction(t *testing.T) {
	printable, guarded := readFields(t, "printable.txt"), readFields(t, "guarded.txt")
	seen := map[string]bool{}
	for _, typ := range exportedTypes {
		t.Run("MOD-9 "+typeName(typ.Type), func(t *testing.T) {
			f := filler{fields: map[string]string{}}
			v := reflect.New(typ.Type).Elem()
			f.fill(v, typeName(typ.Type))
			shown := f.shownBy(typ.Type, shapes(v))
			for _, field := range slices.Sorted(maps.Keys(shown)) {
				seen[field] = true
				if !printable[field] {
					t.Errorf("%s is shown by %s", field, shown[field])
				}
			}
			buried := f.shownBy(typ.Type, map[string]any{"unexported field": typ.bury(v.Interface())})
			for _, field := range slices.Sorted(maps.Keys(buried)) {
				seen[field] = true
				if !printable[field] && !guarded[field] {
					t.Errorf("%s is shown by %s: it is neither of a redacting type nor listed", field, buried[field])
				}
			}
		})
	}
	for file, fields := range map[string]map[string]bool{"printable.txt": printable, "guarded.txt": guarded} {
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			if !seen[field] {
				t.Errorf("%s lists %s, which nothing shows: remove the line", file, field)
			}
		}
	}
}

// shownBy returns the fields that printing the values shows, with one way that shows each.
func (f *filler) shownBy(typ reflect.Type, values map[string]any) map[string]string {
	leaks := map[string]string{}
	for shape, value := range values {
		for way, text := range prints(value) {
			for marker, field := range f.fields {
				if leaks[field] == "" && shown(text, marker) {
					leaks[field] = fmt.Sprintf("%s of %s (%s)", way, typ, shape)
				}
			}
		}
	}
	return leaks
}

// readFields reads a list of fields: one a line, "#" starts a comment.
func readFields(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			fields[line] = true
		}
	}
	return fields
}
