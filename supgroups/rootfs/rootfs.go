package rootfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// Names of the two files below the root.
const (
	Passwd = "etc/passwd"
	Group  = "etc/group"

	// maxFileBytes is the largest file that is read; a sparse file of an image can claim any size.
	maxFileBytes = 1 << 30 // 1 GiB
)

// Root is the root directory of a container's file system. It is safe for concurrent use.
type Root struct {
	fsys  fs.ReadLinkFS
	close func() error
}

// Open opens the root file system unpacked at dir. The caller closes it. Errors are those of os.OpenRoot.
func Open(dir string) (*Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Root{fsys: dirFS{root}, close: root.Close}, nil
}

// New returns a Root over fsys, whose Lstat and ReadLink must not follow links. Close does not close fsys.
func New(fsys fs.ReadLinkFS) *Root {
	return &Root{fsys: fsys, close: func() error { return nil }}
}

// Close releases the directory. Files that are open stay usable.
func (r *Root) Close() error { return r.close() }

// Resolve is supgroups.Resolve over the root's passwd and group file, each opened only when the answer depends on it. A
// missing file counts as an empty one. Its errors are those of supgroups.Resolve and of File.
func (r *Root) Resolve(req supgroups.Request) (supgroups.Identity, error) {
	passwd, group := r.lazy(Passwd), r.lazy(Group)
	defer passwd.close()
	defer group.close()
	return supgroups.Resolve(req, passwd, group)
}

// File opens a file below the root for reading, following links inside the root. The caller closes it.
//
// Errors: fs.ErrNotExist when there is no such file, a link leads nowhere, or a directory on the way is a file;
// ErrNotRegular; ErrTooLarge, at once or from Read when the file grows; ErrTooManyLinks; and those of the file system,
// the path of an *fs.PathError quoted in the text, since the image may have written it.
func (r *Root) File(name string) (io.ReadCloser, error) {
	path, err := follow(r.fsys, name)
	if err != nil {
		return nil, err
	}
	// The kind is looked at before opening, because opening a device can have effects, and again after, because the
	// container may have swapped it.
	info, err := r.fsys.Lstat(path)
	if err != nil {
		return nil, quoted(err)
	}
	if err := acceptable(name, info); err != nil {
		return nil, err
	}
	f, err := r.fsys.Open(path)
	if err != nil {
		return nil, quoted(err)
	}
	if info, err = f.Stat(); err == nil {
		err = acceptable(name, info)
	}
	if err != nil {
		f.Close()
		return nil, quoted(err)
	}
	return &boundedFile{File: f, name: name, left: maxFileBytes}, nil
}

func acceptable(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q: %w: %s", name, ErrNotRegular, info.Mode().Type())
	}
	if info.Size() > maxFileBytes {
		return fmt.Errorf("%q: %w: %d bytes exceed %d", name, ErrTooLarge, info.Size(), maxFileBytes)
	}
	return nil
}
