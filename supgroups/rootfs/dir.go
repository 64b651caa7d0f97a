package rootfs

import (
	"io/fs"
	"os"
	"path/filepath"
)

// dirFS is a directory as an fs.ReadLinkFS. Whatever a container changes between looking and opening, os.Root keeps
// every call inside.
type dirFS struct{ root *os.Root }

func (d dirFS) Open(name string) (fs.File, error) {
	return d.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
}

func (d dirFS) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

func (d dirFS) ReadLink(name string) (string, error) {
	target, err := d.root.Readlink(name)
	return filepath.ToSlash(target), err
}
