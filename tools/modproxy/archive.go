package modproxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// licenseFile is added to a module in a subdirectory that has none of its own, as
// the go command does.
const licenseFile = "LICENSE"

// archive writes the zip of m as the go command would make it at a tag of the tree as it is now: the files that git
// knows or would add, without those of nested modules, and the repository's licence. The module's go.sum is
// replaced when sums is not nil, and left out when it is empty.
func archive(w io.Writer, root string, m house.Module, sums []byte) error {
	names, err := tracked(root, m.Dir)
	if err != nil {
		return err
	}
	var files []zip.File
	licensed := false
	for _, name := range names {
		if name == sumFile && sums != nil {
			continue
		}
		licensed = licensed || name == licenseFile
		files = append(files, onDisk{name, filepath.Join(root, m.Dir, filepath.FromSlash(name))})
	}
	if len(sums) > 0 {
		files = append(files, inMemory{sumFile, sums})
	}
	if license := filepath.Join(root, licenseFile); !licensed && m.Dir != "" {
		if _, err := os.Stat(license); err == nil {
			files = append(files, onDisk{licenseFile, license})
		}
	}
	return zip.Create(w, module.Version{Path: m.Path(), Version: m.Version}, files)
}

// tracked returns the files below dir that git knows or would add and that exist,
// slash-separated and relative to dir.
func tracked(root, dir string) ([]string, error) {
	at := filepath.Join(root, dir)
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = at
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", dir, err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
			names = append(names, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return names, nil
}

// onDisk is a file of an archive.
type onDisk struct{ name, file string }

func (f onDisk) Path() string                 { return f.name }
func (f onDisk) Lstat() (fs.FileInfo, error)  { return os.Lstat(f.file) }
func (f onDisk) Open() (io.ReadCloser, error) { return os.Open(f.file) }

// inMemory is a file of an archive that is not on disk, or not so.
type inMemory struct {
	name string
	text []byte
}

func (f inMemory) Path() string { return f.name }

func (f inMemory) Lstat() (fs.FileInfo, error) { return textInfo(f), nil }

func (f inMemory) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.text)), nil }

// textInfo describes a file in memory.
type textInfo inMemory

func (i textInfo) Name() string     { return path.Base(i.name) }
func (i textInfo) Size() int64      { return int64(len(i.text)) }
func (textInfo) Mode() fs.FileMode  { return 0o644 }
func (textInfo) ModTime() time.Time { return time.Time{} }
func (textInfo) IsDir() bool        { return false }
func (textInfo) Sys() any           { return nil }
