package modproxy

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/lanyard-dev/lanyard/tools/house"
)

const sumFile = "go.sum"

// ErrSums is returned where a go.sum does not list the siblings as the tree has them.
var ErrSums = errors.New("go.sum does not list the siblings as they are: run make sums")

// hashes are the two lines that a go.sum has for a module.
type hashes struct{ zip, mod string }

// summer computes the sums of the tree's modules, each once.
type summer struct {
	h     *house.House
	texts map[string][]byte // the go.sum of each module by directory
	sums  map[string]hashes
	busy  map[string]bool
}

// Sums returns the text that each go.sum of the workspace must have for its siblings to be fetched from their tags, by
// the directory of the module; an empty text is not a file. What the files list beside siblings is taken as it is. A
// sibling's own go.sum is part of its zip and so of its sum, hence siblings come first; a circle of them is an error,
// and so is a required version that is not the tree's.
func Sums(h *house.House) (map[string][]byte, error) {
	s := &summer{h: h, texts: map[string][]byte{}, sums: map[string]hashes{}, busy: map[string]bool{}}
	for _, m := range h.Modules {
		if !m.InWorkspace() {
			continue
		}
		if _, err := s.text(m); err != nil {
			return nil, err
		}
	}
	return s.texts, nil
}

// WriteSums writes the sums of siblings into the go.sum of each of the modules that is of the
// workspace, and returns the directories of those whose file changed.
func WriteSums(h *house.House, modules []house.Module) ([]string, error) {
	stale, texts, err := staleSums(h)
	if err != nil {
		return nil, err
	}
	stale = slices.DeleteFunc(stale, func(dir string) bool {
		return !slices.ContainsFunc(modules, func(m house.Module) bool { return m.Dir == dir })
	})
	for _, dir := range stale {
		file := filepath.Join(h.Root, dir, sumFile)
		if len(texts[dir]) == 0 {
			err = os.Remove(file)
		} else {
			err = os.WriteFile(file, texts[dir], 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	return stale, nil
}

// StaleSums returns the directories of the modules whose go.sum is not what
// WriteSums writes, in the order of the list.
func StaleSums(h *house.House) ([]string, error) {
	stale, _, err := staleSums(h)
	return stale, err
}

func staleSums(h *house.House) (stale []string, texts map[string][]byte, _ error) {
	texts, err := Sums(h)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range h.Modules {
		want, ours := texts[m.Dir]
		if !ours {
			continue
		}
		kept, err := os.ReadFile(filepath.Join(h.Root, m.Dir, sumFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		if !bytes.Equal(kept, want) {
			stale = append(stale, m.Dir)
		}
	}
	return stale, texts, nil
}

// text returns the go.sum of m, with the sums of its siblings.
func (s *summer) text(m house.Module) ([]byte, error) {
	if text, done := s.texts[m.Dir]; done {
		return text, nil
	}
	if s.busy[m.Dir] {
		return nil, fmt.Errorf("%s requires itself through its siblings", m.Dir)
	}
	s.busy[m.Dir] = true
	defer delete(s.busy, m.Dir)
	lines, err := foreignSums(filepath.Join(s.h.Root, m.Dir, sumFile))
	if err != nil {
		return nil, err
	}
	direct, err := s.siblings(m)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, sibling := range direct {
		sum, err := s.sum(sibling)
		if err != nil {
			return nil, err
		}
		lines = append(lines, sumLine(sibling, "", sum.zip))
		if err := s.graph(sibling, seen, &lines); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(lines, compareSums)
	text := []byte{}
	for _, line := range lines {
		text = append(text, line+"\n"...)
	}
	s.texts[m.Dir] = text
	return text, nil
}

// graph adds the sums of the go.mod files of m and of every sibling that it requires.
func (s *summer) graph(m house.Module, seen map[string]bool, lines *[]string) error {
	if seen[m.Dir] {
		return nil
	}
	seen[m.Dir] = true
	sum, err := s.sum(m)
	if err != nil {
		return err
	}
	*lines = append(*lines, sumLine(m, "/go.mod", sum.mod))
	below, err := s.siblings(m)
	if err != nil {
		return err
	}
	for _, sibling := range below {
		if err := s.graph(sibling, seen, lines); err != nil {
			return err
		}
	}
	return nil
}

func (s *summer) sum(m house.Module) (hashes, error) {
	if sum, done := s.sums[m.Dir]; done {
		return sum, nil
	}
	text, err := s.text(m)
	if err != nil {
		return hashes{}, err
	}
	var sum hashes
	if sum.zip, err = hashZip(s.h.Root, m, text); err != nil {
		return hashes{}, fmt.Errorf("%s: %w", m.Dir, err)
	}
	if sum.mod, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(s.h.Root, m.Dir, "go.mod"))
	}); err != nil {
		return hashes{}, err
	}
	s.sums[m.Dir] = sum
	return sum, nil
}

// siblings returns the siblings that m requires, at the versions that the tree has.
func (s *summer) siblings(m house.Module) ([]house.Module, error) {
	file := filepath.Join(s.h.Root, m.Dir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.ParseLax(file, data, nil)
	if err != nil {
		return nil, err
	}
	var out []house.Module
	for _, req := range mod.Require {
		dir, ours := strings.CutPrefix(req.Mod.Path, house.Prefix+"/")
		if !ours {
			continue
		}
		sibling, err := s.h.Module(dir)
		if err != nil {
			return nil, fmt.Errorf("%s requires it: %w", m.Dir, err)
		}
		if sibling.Version != req.Mod.Version {
			return nil, fmt.Errorf("%s requires %s, the tree has %s", m.Dir, req.Mod, sibling.Version)
		}
		out = append(out, sibling)
	}
	return out, nil
}

// hashZip returns the sum of the module's zip, with the given go.sum in it.
func hashZip(root string, m house.Module, sums []byte) (string, error) {
	var packed bytes.Buffer
	if err := archive(&packed, root, m, sums); err != nil {
		return "", err
	}
	r, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		return "", err
	}
	names := make([]string, len(r.File))
	byName := map[string]*zip.File{}
	for i, f := range r.File {
		names[i], byName[f.Name] = f.Name, f
	}
	return dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return byName[name].Open() })
}

// foreignSums returns the lines of a go.sum that are not about siblings; a file that
// does not exist has none.
func foreignSums(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, house.Prefix+"/") {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

func sumLine(m house.Module, suffix, hash string) string {
	return m.Path() + " " + m.Version + suffix + " " + hash
}

// compareSums puts lines in the order in which the go command writes them.
func compareSums(a, b string) int {
	x, y := versionOf(a), versionOf(b)
	if x == y {
		return strings.Compare(a, b)
	}
	sorted := []module.Version{x, y}
	module.Sort(sorted)
	if sorted[0] == x {
		return -1
	}
	return 1
}

func versionOf(line string) module.Version {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return module.Version{Path: line}
	}
	return module.Version{Path: fields[0], Version: fields[1]}
}
