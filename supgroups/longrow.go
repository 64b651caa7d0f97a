package supgroups

import "bytes"

// longRow is a group row longer than a block, while it is being read.
type longRow struct {
	row   row
	fault FaultKind
	line  int
	list  memberList
}

func (t *groupTable) open(start []byte, line int) (done bool) {
	r, fault := parseRow(start, true, 1)
	t.long = longRow{fault: fault, line: line}
	t.long.list = memberList{want: t.member.text, ended: t.member.text == "" || r.rest == nil}
	t.long.list.extend(r.rest)
	// The row outlives the block that it points into.
	r.name, r.rest = bytes.Clone(r.name), nil
	t.long.row = r
	return false
}

func (t *groupTable) extend(part []byte) { t.long.list.extend(part) }

func (t *groupTable) close() (done bool) {
	if t.use(t.long.row, t.long.list.close(), t.long.fault) {
		t.skipped.add(t.long.line, t.long.fault)
	}
	return t.done()
}
