package image

import (
	"archive/tar"
	"io"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	whiteoutPrefix = ".wh."
	whiteoutOpaque = ".wh..wh..opq"
	whiteoutMeta   = ".wh..wh." // other bookkeeping of aufs, of no meaning here
)

// create makes one entry whose place is free, or is a directory if it is one.
func (u *unpacker) create(name string, h *tar.Header, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		if err := u.root.Mkdir(name, 0o755); err != nil && !os.IsExist(err) {
			return err
		}
		dir := *h
		dir.Name = name
		u.dirs = append(u.dirs, dir)
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.file(name, h, content)
	case tar.TypeSymlink:
		// Its target is text. It is resolved by whoever runs inside the container, or by os.Root for a later entry.
		if err := u.root.Symlink(h.Linkname, name); err != nil {
			return err
		}
		return u.chown(name, h)
	case tar.TypeLink:
		target, err := localName(h.Linkname)
		if err != nil {
			return err
		}
		return u.root.Link(target, name)
	case tar.TypeFifo:
		if err := u.mknod(name, unix.S_IFIFO|0o600); err != nil {
			return err
		}
	case tar.TypeChar, tar.TypeBlock:
		return ErrDevice
	case tar.TypeXGlobalHeader:
		return nil
	default:
		return ErrKind
	}
	return u.attributes(name, h)
}

func (u *unpacker) file(name string, h *tar.Header, content io.Reader) error {
	f, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, content); err != nil {
		return err
	}
	// Owner before mode and capabilities: changing it clears both.
	if err := u.attributes(name, h); err != nil {
		return err
	}
	for key, value := range h.PAXRecords {
		// Only what a program needs to run. Attributes such as trusted.overlay.redirect would be orders to the kernel.
		if attr, ok := strings.CutPrefix(key, "SCHILY.xattr."); ok && attr == "security.capability" && u.owner {
			if err := unix.Fsetxattr(int(f.Fd()), attr, []byte(value), 0); err != nil {
				return &os.PathError{Op: "setxattr", Path: name, Err: err}
			}
		}
	}
	return f.Close()
}

// whiteout translates the archive's way of saying "deleted" into overlayfs's.
func (u *unpacker) whiteout(name string) error {
	dir, base := path.Dir(name), path.Base(name)
	switch {
	case base == whiteoutOpaque:
		return u.opaque(dir)
	case strings.HasPrefix(base, whiteoutMeta):
		return nil
	}
	hidden := strings.TrimPrefix(base, whiteoutPrefix)
	if hidden == "" || hidden == "." || hidden == ".." {
		return ErrEscape
	}
	hidden = path.Join(dir, hidden)
	if _, err := u.root.Lstat(hidden); err == nil {
		// The same layer also brings it: that is its content, and the whiteout meant the layers below.
		return nil
	}
	return u.mknod(hidden, unix.S_IFCHR)
}

func (u *unpacker) opaque(dir string) error {
	f, err := u.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	attr := "trusted.overlay.opaque"
	if !u.owner {
		attr = "user.overlay.opaque"
	}
	return unix.Fsetxattr(int(f.Fd()), attr, []byte("y"), 0)
}

// mknod makes a node in the directory that os.Root resolved, whatever was renamed meanwhile.
func (u *unpacker) mknod(name string, mode uint32) error {
	dir, err := u.root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Mknodat(int(dir.Fd()), path.Base(name), mode, 0); err != nil {
		return &os.PathError{Op: "mknod", Path: name, Err: err}
	}
	return nil
}

func (u *unpacker) attributes(name string, h *tar.Header) error {
	if err := u.chown(name, h); err != nil {
		return err
	}
	if err := u.root.Chmod(name, h.FileInfo().Mode()); err != nil {
		return err
	}
	return u.root.Chtimes(name, h.ModTime, h.ModTime)
}

func (u *unpacker) chown(name string, h *tar.Header) error {
	if !u.owner {
		return nil
	}
	return u.root.Lchown(name, h.Uid, h.Gid)
}

// dirTimes sets the directories' times once nothing more is put into them, the inner ones first.
func (u *unpacker) dirTimes() error {
	for i := len(u.dirs) - 1; i >= 0; i-- {
		h := &u.dirs[i]
		// A later entry may have replaced the directory.
		if err := u.root.Chtimes(h.Name, h.ModTime, h.ModTime); err != nil && !os.IsNotExist(err) {
			return escape(err)
		}
	}
	return nil
}

// inUserNamespace says that user IDs here are mapped, so that files cannot be given to just any user.
func inUserNamespace() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(b)), " ") != "0 0 4294967295"
}
