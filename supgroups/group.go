package supgroups

import (
	"bytes"
	"cmp"
	"slices"
)

// groupTable resolves one group name and collects the groups whose rows list one member.
type groupTable struct {
	wantName string // "" when no name is to be resolved
	member   []byte // empty when no memberships are to be collected
	skipped  Skipped

	found bool
	gid   uint32
	hits  []hit  // ascending by ID, each once
	names []byte // the names of all hits, joined
	full  bool   // more than MaxGroups hits

	openRow row
	list    memberList
}

// hit is a group that lists the member; its name is a part of groupTable.names.
type hit struct {
	gid        uint32
	start, end int
}

func (t *groupTable) rows(block []byte, line int) (n int, done bool) {
	for len(block) > 0 {
		end := bytes.IndexByte(block, '\n')
		if end < 0 {
			t.row(block, line+n)
			return n + 1, t.done()
		}
		t.row(block[:end], line+n)
		block = block[end+1:]
		n++
	}
	return n, t.done()
}

func (t *groupTable) row(b []byte, line int) {
	r, ok := t.head(b, false, line)
	if ok && listsMember(r.rest, t.member) {
		t.add(r)
	}
}

// head reads the head of a row, and resolves the wanted name with it.
func (t *groupTable) head(b []byte, open bool, line int) (r row, ok bool) {
	r, fault := parseRow(b, open, 1)
	if fault != FaultNone {
		t.skipped.add(line, fault)
		return r, false
	}
	if !t.found && r.name != nil && string(r.name) == t.wantName {
		t.found, t.gid = true, r.ids[0]
	}
	return r, r.name != nil && len(t.member) > 0
}

func (t *groupTable) done() bool {
	return t.full || len(t.member) == 0 && t.found
}

func (t *groupTable) add(r row) {
	at, known := len(t.hits), false
	// Files are mostly ascending, so the end is looked at before the search.
	if at > 0 && t.hits[at-1].gid >= r.ids[0] {
		at, known = slices.BinarySearchFunc(t.hits, r.ids[0], func(h hit, gid uint32) int { return cmp.Compare(h.gid, gid) })
	}
	if known {
		return
	}
	if len(t.hits) == MaxGroups {
		t.full = true
		return
	}
	start := len(t.names)
	t.names = append(t.names, r.name...)
	t.hits = slices.Insert(t.hits, at, hit{gid: r.ids[0], start: start, end: len(t.names)})
}

func (t *groupTable) open(start []byte, line int) (done bool) {
	r, ok := t.head(start, true, line)
	t.list = memberList{want: t.member, ended: !ok}
	if ok {
		t.openRow = row{name: bytes.Clone(r.name), ids: r.ids}
		t.list.extend(r.rest)
	}
	return t.done()
}

func (t *groupTable) extend(part []byte) { t.list.extend(part) }

func (t *groupTable) close() (done bool) {
	if t.list.close() {
		t.add(t.openRow)
	}
	return t.done()
}

// groups returns the hits as groups of the image.
func (t *groupTable) groups(into []Group) []Group {
	names := string(t.names)
	for _, h := range t.hits {
		into = append(into, Group{ID: h.gid, Origin: OriginImage, ImageName: names[h.start:h.end]})
	}
	return into
}
