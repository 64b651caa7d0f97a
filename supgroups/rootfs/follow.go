package rootfs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// follow returns the path below fsys's root that name leads to, with every symbolic link resolved as it is for a
// process whose root is fsys: an absolute target starts again at the root, and ".." at the root stays there. At the
// time of the call the path contains no link, no "." and no ".."; "." is the root itself.
//
// Errors: fs.ErrNotExist when a part is missing or a part in the middle is not a directory, ErrTooManyLinks, and those
// of fsys, the path of an *fs.PathError quoted in the text.
func follow(fsys fs.ReadLinkFS, name string) (string, error) {
	w := walk{fsys: fsys, at: ".", ahead: strings.Split(name, "/")}
	for len(w.ahead) > 0 {
		part := w.ahead[0]
		w.ahead = w.ahead[1:]
		if err := w.step(part); err != nil {
			return "", fmt.Errorf("%q: %w", name, quoted(err))
		}
	}
	return w.at, nil
}

type walk struct {
	fsys  fs.ReadLinkFS
	at    string
	ahead []string
	links int
}

func (w *walk) step(part string) error {
	switch part {
	case "", ".":
		return nil
	case "..":
		w.at = path.Dir(w.at)
		return nil
	}
	next := path.Join(w.at, part)
	info, err := w.fsys.Lstat(next)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return w.follow(next)
	}
	if len(w.ahead) > 0 && !info.IsDir() {
		return &fs.PathError{Op: "follow", Path: next, Err: fs.ErrNotExist}
	}
	w.at = next
	return nil
}

func (w *walk) follow(link string) error {
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("%w: more than %d", ErrTooManyLinks, maxLinks)
	}
	target, err := w.fsys.ReadLink(link)
	if err != nil {
		return err
	}
	if strings.HasPrefix(target, "/") {
		w.at = "."
	}
	w.ahead = append(strings.Split(target, "/"), w.ahead...)
	return nil
}
