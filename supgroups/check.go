package supgroups

import (
	"bytes"
	"fmt"
	"io"
)

// CheckPasswd reads a whole passwd file and returns every row that Resolve would skip, were it asked for that row's user.
// Memory is constant. The error is the reader's.
func CheckPasswd(r io.Reader) (Skipped, error) { return check(r, "passwd", 2) }

// CheckGroup does for a group file what CheckPasswd does for a passwd file.
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
	if _, fault := parseRow(b, open, t.ids); fault != FaultNone {
		t.skipped.add(line, fault)
	}
}

func (t *checkTable) open(start []byte, line int) (done bool) {
	t.row(start, true, line)
	return false
}

func (t *checkTable) extend([]byte) {}

func (t *checkTable) close() (done bool) { return false }
