package top

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// conflicting stands for the user of a session whose records name several.
const conflicting = "(conflicting)"

// maxUsers bounds the sessions whose user is kept; of more, the last are not.
const maxUsers = 1 << 18

// users are the users of sessions by session ID, from files of session records that may grow meanwhile.
type users struct {
	names map[string]string
	files []*tail
}

// tail is a file that is read on where it was left.
type tail struct {
	name string
	info os.FileInfo
	read int64
}

// openUsers reads the files, and those that were rotated away from them.
func openUsers(names []string) (*users, error) {
	u := &users{names: map[string]string{}}
	for _, name := range names {
		all, err := journal.Files(name)
		if err != nil {
			return nil, err
		}
		for _, old := range all {
			if old != name {
				if err := u.readOn(&tail{name: old}); err != nil {
					return nil, err
				}
			}
		}
		file := &tail{name: name}
		if err := u.readOn(file); err != nil {
			return nil, err
		}
		u.files = append(u.files, file)
	}
	return u, nil
}

// refresh reads what was added. A file that is being rotated is read the next time.
func (u *users) refresh() error {
	for _, file := range u.files {
		if err := u.readOn(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (u *users) readOn(t *tail) error {
	file, err := os.Open(t.name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if t.info != nil && !os.SameFile(t.info, info) || info.Size() < t.read {
		t.read = 0
	}
	t.info = info
	text, err := io.ReadAll(io.NewSectionReader(file, t.read, info.Size()-t.read))
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	t.read += int64(len(whole))
	for r, err := range sessions.Read(bytes.NewReader(whole), t.name) {
		if err == nil { // a line that is not a record names nobody
			u.add(r)
		}
	}
	return nil
}

func (u *users) add(r sessions.Record) {
	id := r.Session.String()
	name, known := u.names[id]
	switch {
	case known && name != r.User.Name:
		u.names[id] = conflicting
	case !known && len(u.names) < maxUsers:
		u.names[id] = r.User.Name
	}
}
