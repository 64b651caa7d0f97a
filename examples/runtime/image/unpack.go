package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Limits bound what one layer may unpack to. Zero fields take the defaults.
type Limits struct {
	Bytes   int64 // of files as they will look unpacked, holes included, and of the archive; [DefaultBytes]
	Entries int   // [DefaultEntries]
}

// The limits of a layer unless [Limits] say otherwise.
const (
	DefaultBytes   = 8 << 30 // 8 GiB
	DefaultEntries = 500_000
)

func (l Limits) orDefault() Limits {
	if l.Bytes == 0 {
		l.Bytes = DefaultBytes
	}
	if l.Entries == 0 {
		l.Entries = DefaultEntries
	}
	return l
}

// unpacker puts one layer into one directory.
type unpacker struct {
	root   *os.Root
	limits Limits
	owner  bool // may give files to other users
	dirs   []tar.Header

	entries int
	bytes   int64
}

// Unpack reads a layer's archive to its end and puts it into the existing directory dir in the form overlayfs wants its
// lower layers in: a whiteout is a 0:0 character device, an opaque directory has an attribute. Files get the archive's
// owners unless the process may not do that. Errors of the archive's content are *LayerError; what was written stays.
func Unpack(dir string, archive io.Reader, limits Limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacker{root: root, limits: limits.orDefault(), owner: os.Geteuid() == 0 && !inUserNamespace()}
	bounded := &boundedReader{r: archive, left: u.limits.Bytes}
	entries := tar.NewReader(bounded)
	for {
		h, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := u.entry(h, entries); err != nil {
			return &LayerError{Entry: h.Name, Err: err}
		}
	}
	if err := u.dirTimes(); err != nil {
		return err
	}
	// What follows the archive's end belongs to its digest.
	_, err = io.Copy(io.Discard, bounded)
	return err
}

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	if u.entries++; u.entries > u.limits.Entries {
		return fmt.Errorf("%w: limit %d", ErrTooManyEntries, u.limits.Entries)
	}
	if u.bytes += h.Size; h.Size > u.limits.Bytes || u.bytes > u.limits.Bytes {
		return fmt.Errorf("%w: limit %d bytes", ErrTooLarge, u.limits.Bytes)
	}
	name, err := localName(h.Name)
	if err != nil {
		return err
	}
	if name == "." {
		return u.rootEntry(h)
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return escape(err)
	}
	if strings.HasPrefix(path.Base(name), whiteoutPrefix) {
		return escape(u.whiteout(name))
	}
	if err := u.makeRoom(name, h); err != nil {
		return escape(err)
	}
	return escape(u.create(name, h, content))
}

// rootEntry sets what the archive says of the root directory itself.
func (u *unpacker) rootEntry(h *tar.Header) error {
	if h.Typeflag != tar.TypeDir {
		return ErrKind
	}
	return u.attributes(".", h)
}

// makeRoom removes what stands in the way: a layer may name a path twice, and the last one counts. A directory stays
// when a directory comes.
func (u *unpacker) makeRoom(name string, h *tar.Header) error {
	old, err := u.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.IsDir() && h.Typeflag == tar.TypeDir {
		return nil
	}
	return u.root.RemoveAll(name)
}

// localName returns the entry's name below the root. A leading slash means the root, as everywhere in archives of root
// file systems; a name that climbs out of it is an error, not something to be bent into shape.
func localName(name string) (string, error) {
	name = strings.TrimLeft(name, "/")
	if name == "" {
		name = "."
	}
	if !filepath.IsLocal(name) {
		return "", ErrEscape
	}
	return path.Clean(name), nil
}

// escape turns os.Root's refusal, which has no sentinel, into ours.
func escape(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p) && strings.Contains(p.Err.Error(), "escapes"),
		errors.As(err, &l) && strings.Contains(l.Err.Error(), "escapes"):
		return ErrEscape
	}
	return err
}

// boundedReader ends with ErrTooLarge where io.LimitReader would pretend that the input has ended.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &LayerError{Err: ErrTooLarge}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
