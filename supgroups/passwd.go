package supgroups

import "strconv"

// passwdTable looks for the first usable row of a user, by name or by ID.
type passwdTable struct {
	want    Ref
	find    finder
	skipped Skipped

	found    bool
	name     string
	uid, gid uint32
}

func (t *passwdTable) set(want Ref) {
	t.want = want
	text := want.Name
	if want.Numeric {
		// The digits stand before a colon, whatever zeros stand before them.
		var digits [16]byte
		text = string(append(strconv.AppendUint(digits[:0], uint64(want.ID), 10), ':'))
	}
	t.find.text = text
}

func (t *passwdTable) rows(block []byte, line int) (done bool) {
	t.find.reset()
	for i := t.find.seek(block, 0); i < len(block); {
		start, end, next := rowAround(block, i)
		if fault := t.row(block[start:end], false); fault != faultNone {
			t.skipped.add(lineAt(block, start, line), fault)
		}
		if t.found {
			return true
		}
		i = t.find.seek(block, next)
	}
	return false
}

// row takes a row and returns its fault, if it is the user's and has one.
func (t *passwdTable) row(b []byte, open bool) FaultKind {
	r, fault := parseRow(b, open, 2)
	if !t.matches(r) {
		return faultNone
	}
	if fault == faultNone {
		t.found, t.name, t.uid, t.gid = true, string(r.name), r.id[0], r.id[1]
	}
	return fault
}

func (t *passwdTable) matches(r row) bool {
	if t.want.Numeric {
		return r.ids > 0 && r.id[0] == t.want.ID
	}
	return r.name != nil && string(r.name) == t.want.Name
}

// open is all there is to a long row: what this table needs is in the head.
func (t *passwdTable) open(start []byte, line int) (done bool) {
	if fault := t.row(start, true); fault != faultNone {
		t.skipped.add(line, fault)
	}
	return t.found
}

func (t *passwdTable) extend([]byte) {}

func (t *passwdTable) close() (done bool) { return false }
