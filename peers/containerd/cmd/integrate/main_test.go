package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/peers/containerd"
)

// copied is a directory with those files of containerd that are patched.
func copied(t *testing.T) string {
	t.Helper()
	t.Chdir("../..")
	source, err := fetch()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, p := range containerd.Patches() {
		to := filepath.Join(dir, p.File)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := copyFile(filepath.Join(source.Dir, p.File), to); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPatch(t *testing.T) {
	source := copied(t)
	t.Run("EXA-37 the overlay has each patched file, the source stays, and a second time gives the same", func(t *testing.T) {
		dir := t.TempDir()
		var before map[string]string
		for range 2 {
			overlay, err := patch(source, dir)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Replace map[string]string }
			if err := json.Unmarshal(overlay, &got); err != nil || len(got.Replace) != len(containerd.Patches()) {
				t.Fatalf("overlay %s, %v", overlay, err)
			}
			texts := map[string]string{}
			for original, patched := range got.Replace {
				texts[original] = read(t, patched)
				if strings.Contains(read(t, original), "lanyard") || !strings.Contains(texts[original], "lanyard") {
					t.Errorf("%s and %s: want our modules in the second alone", original, patched)
				}
				if before != nil && texts[original] != before[original] {
					t.Errorf("%s is not the same the second time", patched)
				}
			}
			before = texts
		}
	})
	for _, p := range containerd.Patches() {
		t.Run("EXA-37 another shape of "+filepath.Base(p.File)+" is an error that names it", func(t *testing.T) {
			file := filepath.Join(source, p.File)
			text := read(t, file)
			defer write(t, file, text)
			write(t, file, "package server\n\nimport (\n\t\"fmt\"\n)\n")
			_, err := patch(source, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), p.File) || !strings.Contains(err.Error(), p.Places[0].In) {
				t.Errorf("patch = %v, want %s and %s in it", err, p.File, p.Places[0].In)
			}
		})
	}
	t.Run("EXA-37 a file that is not there is an error that names it", func(t *testing.T) {
		if _, err := patch(t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), containerd.Patches()[0].File) {
			t.Errorf("patch = %v", err)
		}
	})
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	for name, args := range map[string][3]string{
		"nothing":                {},
		"a directory alone":      {"work", "", ""},
		"an output alone":        {"", "output", ""},
		"a table and a build":    {"work", "output", "table"},
		"a table, and directory": {"work", "", "table"},
	} {
		t.Run("EXA-37 wrong usage is an error: "+name, func(t *testing.T) {
			if err := run(args[0], args[1], args[2]); err == nil {
				t.Error("no error")
			}
		})
	}
}
