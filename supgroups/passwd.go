package supgroups

import "bytes"

// passwdTable looks for the first usable row of a user, by name or by ID.
type passwdTable struct {
	want    Ref
	skipped Skipped

	found    bool
	name     string
	uid, gid uint32
}

func (t *passwdTable) rows(block []byte, line int) (n int, done bool) {
	for len(block) > 0 {
		end := bytes.IndexByte(block, '\n')
		if end < 0 {
			return n + 1, t.row(block, false, line+n)
		}
		if t.row(block[:end], false, line+n) {
			return n + 1, true
		}
		block = block[end+1:]
		n++
	}
	return n, false
}

func (t *passwdTable) row(b []byte, open bool, line int) (done bool) {
	r, fault := parseRow(b, open, 2)
	if fault != FaultNone {
		t.skipped.add(line, fault)
		return false
	}
	if r.name == nil || !t.matches(r) {
		return false
	}
	t.found, t.name, t.uid, t.gid = true, string(r.name), r.ids[0], r.ids[1]
	return true
}

func (t *passwdTable) matches(r row) bool {
	if t.want.Numeric {
		return r.ids[0] == t.want.ID
	}
	return string(r.name) == t.want.Name
}

// open is all there is to a long row: what this table needs is in the head.
func (t *passwdTable) open(start []byte, line int) (done bool) { return t.row(start, true, line) }

func (t *passwdTable) extend([]byte) {}

func (t *passwdTable) close() (done bool) { return false }
