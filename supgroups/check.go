package supgroups

import (
	"bytes"
	"fmt"
	"io"
)

// CheckPasswd reads a whole passwd file and returns the rows that Resolve would skip if it was asked for their user. It
// needs constant memory. The error is the reader's.
func CheckPasswd(r io.Reader) (Skipped, error) { return check(r, "passwd", 2) }

// CheckGroup is CheckPasswd for a group file.
func CheckGroup(r io.Reader) (Skipped, error) { return check(r, "group", 1) }

func check(r io.Reader, name string, ids int) (Skipped, error) {
	t := checkTable{ids: ids}
	f := feeder{buf: make([]byte, blockBytes)}
	if err := f.feed(r, &t); err != nil {
		return t.skipped, fmt.Errorf("%s: %w", name, err)
	}
	return t.skipped, nil
}

// checkTable looks at every row.
type checkTable struct {
	ids     int
	skipped Skipped
}

func (t *checkTable) rows(block []byte, line int) (done bool) {
	for ; len(block) > 0; line++ {
		row, rest, _ := bytes.Cut(block, newline)
		t.row(row, false, line)
		block = rest
	}
	return false
}

func (t *checkTable) row(b []byte, open bool, line int) {
	if _, fault := parseRow(b, open, t.ids); fault != faultNone {
		t.skipped.add(line, fault)
	}
}

func (t *checkTable) open(start []byte, line int) (done bool) {
	t.row(start, true, line)
	return false
}

func (t *checkTable) extend([]byte) {}

func (t *checkTable) close() (done bool) { return false }
