package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

// Malformed tells which rows of an image's two files no runtime should use, whoever they are about.
type Malformed struct {
	// Rows is how many there are.
	Rows int `json:"rows"`
	// First names the first few of each file, as in "etc/group:4: id out of range".
	First []string `json:"first"`
}

func checkFiles(root *rootfs.Root) (Malformed, error) {
	m := Malformed{First: []string{}}
	err := m.check(root, rootfs.Passwd, supgroups.CheckPasswd)
	if err == nil {
		err = m.check(root, rootfs.Group, supgroups.CheckGroup)
	}
	return m, err
}

func (m *Malformed) check(root *rootfs.Root, name string, check func(io.Reader) (supgroups.Skipped, error)) error {
	f, err := root.File(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	skipped, err := check(f)
	m.Rows += skipped.Rows
	for _, r := range skipped.First {
		m.First = append(m.First, fmt.Sprintf("%s:%d: %s", name, r.Line, r.Kind))
	}
	return err
}
