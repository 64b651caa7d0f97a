package redaction

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write exported_test.go")

// TestRedaction prints every exported type of the house with a marker in each field. A field that shows is one that may,
// or a leak that is known and still to be closed: no other joins them.
func TestRedaction(t *testing.T) {
	printable, leaking := readFields(t, "printable.txt"), readFields(t, "leaking.txt")
	shown := map[string]bool{}
	for _, typ := range exportedTypes {
		t.Run(typeName(typ)+" shows no further field that may hold a secret", func(t *testing.T) {
			leaks := leaksOf(typ)
			for _, field := range slices.Sorted(maps.Keys(leaks)) {
				shown[field] = true
				if !printable[field] && !leaking[field] {
					t.Errorf("%s is shown by %s", field, leaks[field])
				}
			}
		})
	}
	for file, fields := range map[string]map[string]bool{"printable.txt": printable, "leaking.txt": leaking} {
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			if !shown[field] {
				t.Errorf("%s lists %s, which nothing shows: remove the line", file, field)
			}
		}
	}
}

// leaksOf returns the fields that printing a value of the type shows, with one way that shows each.
func leaksOf(typ reflect.Type) map[string]string {
	f := filler{fields: map[string]string{}}
	v := reflect.New(typ).Elem()
	f.fill(v, typeName(typ))
	leaks := map[string]string{}
	for shape, value := range shapes(v) {
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
