package rootfs_test

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

// evilPath drives a terminal in the ways that a path can: an escape sequence, C1 and a right-to-left override.
const evilPath = "\x1b]0;x\x07\u009b31m\u202e"

var errDisk = errors.New("disk on fire")

// failFS fails at one operation, with the path in the error as every file system has it.
type failFS struct {
	fstest.MapFS
	op string
}

func (f failFS) fail(op, name string) error {
	if op != f.op {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: errDisk}
}

func (f failFS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.fail("lstat", name); err != nil {
		return nil, err
	}
	return f.MapFS.Lstat(name)
}

func (f failFS) ReadLink(name string) (string, error) {
	if err := f.fail("readlink", name); err != nil {
		return "", err
	}
	return f.MapFS.ReadLink(name)
}

func (f failFS) Open(name string) (fs.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	file, err := f.MapFS.Open(name)
	return failFile{file, f, name}, err
}

type failFile struct {
	fs.File
	fs   failFS
	name string
}

func (f failFile) Stat() (fs.FileInfo, error) {
	if err := f.fs.fail("stat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f failFile) Read(p []byte) (int, error) {
	if err := f.fs.fail("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func readAll(fsys fs.ReadLinkFS, name string) error {
	f, err := rootfs.New(fsys).File(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.ReadAll(f)
	return err
}

func checkQuoted(t *testing.T, err error) {
	t.Helper()
	if err == nil || strings.ContainsFunc(err.Error(), func(r rune) bool { return !strconv.IsPrint(r) }) {
		t.Errorf("error = %+q, want one that is safe to print", err)
	}
}

func TestErrorsQuotePaths(t *testing.T) {
	for _, op := range []string{"lstat", "readlink", "open", "stat", "read"} {
		t.Run("GRP-7 a link's target in the error of "+op, func(t *testing.T) {
			fsys := failFS{op: op, MapFS: fstest.MapFS{
				evilPath:       {Mode: fs.ModeSymlink | 0o777, Data: []byte(evilPath + "2")},
				evilPath + "2": {Data: []byte(passwd)},
			}}
			err := readAll(fsys, evilPath)
			checkQuoted(t, err)
			var path *fs.PathError
			if !errors.Is(err, errDisk) || !errors.As(err, &path) || !strings.HasPrefix(path.Path, evilPath) {
				t.Errorf("error = %v, want the file system's, with the path as it is", err)
			}
		})
	}
	t.Run("GRP-7 a target that is no path, a missing one, a file on the way, a loop", func(t *testing.T) {
		for _, target := range []string{"\xff" + evilPath, evilPath, evilPath + "/x", "passwd"} {
			err := readAll(fstest.MapFS{
				"etc/passwd":      {Mode: fs.ModeSymlink | 0o777, Data: []byte(target)},
				"etc/" + evilPath: {Mode: fs.ModeSymlink | 0o777, Data: []byte("/nowhere" + evilPath)},
			}, rootfs.Passwd)
			checkQuoted(t, err)
		}
	})
	t.Run("GRP-7 a directory tree on disk", func(t *testing.T) {
		_, dir := tree{"etc/passwd": "->/" + evilPath, "etc/group": "->/etc/group/" + evilPath}.unpack(t)
		root, err := rootfs.Open(dir)
		must(t, err)
		defer root.Close()
		for _, name := range []string{rootfs.Passwd, rootfs.Group} {
			_, err := root.File(name)
			checkQuoted(t, err)
		}
	})
	t.Run("GRP-7 a name that the caller has from somebody else", func(t *testing.T) {
		fsys := fstest.MapFS{evilPath + "/x": {}}
		for _, name := range []string{evilPath, evilPath + "/none"} {
			checkQuoted(t, readAll(fsys, name))
		}
	})
}
