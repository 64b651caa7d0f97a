package promises_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxTracked is more than any source, picture or recording of the tree needs, in bytes.
const maxTracked = 2 << 20

// TestTracked keeps programs out of the history: a go build that was told no output leaves one where it stands.
func TestTracked(t *testing.T) {
	h := open(t)
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = h.Root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(files) < 100 {
		t.Fatalf("%d files are tracked", len(files))
	}
	for _, name := range files {
		path := filepath.Join(h.Root, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue // removed in this working copy, or a symbolic link
		}
		if info.Size() > maxTracked {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		if f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN {
			t.Errorf("%s is a program", name)
		}
		f.Close()
	}
}
