package house

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Digest returns a hash over the files of m and of every sibling it requires, so
// that a recorded test result can be told from the result of another tree.
func (h *House) Digest(m Module) (string, error) {
	sum := sha256.New()
	if err := h.digestInto(m, map[string]bool{}, func(s string) { fmt.Fprintln(sum, s) }); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (h *House) digestInto(m Module, seen map[string]bool, add func(string)) error {
	if seen[m.Dir] {
		return nil
	}
	seen[m.Dir] = true
	if err := h.eachFile(m, func(rel, path string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		add(fmt.Sprintf("%s/%s %x", m.Dir, rel, sha256.Sum256(data)))
		return nil
	}); err != nil {
		return err
	}
	siblings, err := h.Siblings(m)
	if err != nil {
		return err
	}
	for _, s := range siblings {
		if err := h.digestInto(s, seen, add); err != nil {
			return err
		}
	}
	return nil
}

// eachFile calls f for every regular file of m that is not Markdown, in the order
// of their names; directories with a module of their own are left out.
func (h *House) eachFile(m Module, f func(rel, path string) error) error {
	root := filepath.Join(h.Root, m.Dir)
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root {
				if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
					return fs.SkipDir
				}
			}
			return nil
		}
		if !d.Type().IsRegular() || strings.HasSuffix(path, ".md") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(rel), path)
	})
}
