package house

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Proof remembers that something slow was proved of a module, so that it is proved
// once for each content: of the module and its siblings, the tools that prove it, the go command and the
// workspace.
type Proof struct {
	file, key string
}

// Proof returns the proof of that name for m as the tree is now.
func (h *House) Proof(name string, m Module) (Proof, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, name, m.Path(), m.Version, runtime.Version(), os.Getenv("GOFLAGS"), os.Getenv("CGO_ENABLED"))
	add := func(line string) { fmt.Fprintln(sum, line) }
	tools := Module{Dir: "tools", Kind: Tools}
	for _, part := range []Module{m, tools} {
		if err := h.digestInto(part, map[string]bool{}, add); err != nil {
			return Proof{}, err
		}
	}
	files := []string{filepath.Join(m.Dir, "README.md"), "LICENSE", "go.work", "go.work.sum"}
	for _, other := range h.Modules {
		if other.InWorkspace() {
			files = append(files, filepath.Join(other.Dir, "go.mod"))
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(h.Root, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Proof{}, err
		}
		add(fmt.Sprintf("%s %x", file, sha256.Sum256(data)))
	}
	return Proof{
		file: filepath.Join(h.Root, ".build", "proofs", name+"_"+strings.ReplaceAll(m.Dir, "/", "_")),
		key:  hex.EncodeToString(sum.Sum(nil)),
	}, nil
}

// Kept reports whether it was proved before, for the same content.
func (p Proof) Kept() bool {
	key, err := os.ReadFile(p.file)
	return err == nil && string(key) == p.key
}

// Keep notes that it is proved.
func (p Proof) Keep() error {
	if err := os.MkdirAll(filepath.Dir(p.file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p.file, []byte(p.key), 0o644)
}
