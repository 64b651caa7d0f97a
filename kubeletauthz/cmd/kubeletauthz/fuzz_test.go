package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRead says: whatever stands in a file, reading it ends in objects or in a note, and hides nothing of a document
// behind it.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(names) == 0 {
		f.Fatal("no test data", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, c := range inputCases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := read(console{in: bytes.NewReader(text)}, []string{"-"})
		if err == nil && len(m.Cluster)+len(m.Namespaced) != len(m.roles) {
			t.Errorf("%d roles in all, want %d", len(m.roles), len(m.Cluster)+len(m.Namespaced))
		}
		if m.objects()+len(m.notes) == 0 {
			t.Error("nothing is said of the input")
		}
		if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
			return // UTF-16 is refused as a whole
		}
		more, err := read(console{in: io.MultiReader(bytes.NewReader(text), strings.NewReader("\n---\n"+yamlWide))}, []string{"-"})
		if err != nil || len(more.roles) != len(m.roles)+1 || more.roles[len(m.roles)].meta.Name != "wide" {
			t.Errorf("%d roles, %v, with one document more; want %d", len(more.roles), err, len(m.roles)+1)
		}
	})
}
