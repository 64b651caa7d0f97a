package supgroups

import (
	"cmp"
	"slices"
)

// groupTable resolves one group name and collects the groups whose rows list one member. Either may be left out.
type groupTable struct {
	name, member finder
	skipped      Skipped

	found bool
	gid   uint32
	hits  []hit  // ascending by ID, each once
	names []byte // the names of all hits, joined
	full  bool   // there were more than MaxGroups hits
	room  *room  // what hits and names begin in

	long longRow
}

// room is enough for the groups of nearly every user.
type room struct {
	hits  [32]hit
	names [256]byte
}

// hit is a group that lists the member; its name is a part of groupTable.names.
type hit struct {
	gid        uint32
	start, end uint32
}

func (t *groupTable) rows(block []byte, line int) (done bool) {
	t.name.reset()
	t.member.reset()
	for i := t.seek(block, 0); i < len(block); {
		start, end, next := rowAround(block, i)
		r, fault := parseRow(block[start:end], false, 1)
		if t.use(r, t.lists(r, i-start), fault) {
			t.skipped.add(lineAt(block, start, line), fault)
		}
		if t.done() {
			return true
		}
		i = t.seek(block, next)
	}
	return false
}

func (t *groupTable) seek(block []byte, from int) int {
	i := t.member.seek(block, from)
	if !t.found {
		i = min(i, t.name.seek(block, from))
	}
	return i
}

// lists reports whether the row lists the member. hit is where in the row the member's name was seen, and most often is
// that member.
func (t *groupTable) lists(r row, hit int) bool {
	return isMemberAt(r.rest, hit-r.at, t.member.text) || listsMember(r.rest, t.member.text)
}

// use takes a row, and reports whether it would have counted but for its fault.
func (t *groupTable) use(r row, lists bool, fault FaultKind) (skipped bool) {
	named := !t.found && t.name.text != "" && string(r.name) == t.name.text
	if fault != faultNone {
		return named || lists
	}
	if named {
		t.found, t.gid = true, r.id[0]
	}
	if lists {
		t.add(r)
	}
	return false
}

func (t *groupTable) done() bool {
	return t.full || t.member.text == "" && t.found
}

func (t *groupTable) add(r row) {
	at, known := len(t.hits), false
	// Files are mostly ascending, so the end is looked at before the search.
	if at > 0 && t.hits[at-1].gid >= r.id[0] {
		at, known = slices.BinarySearchFunc(t.hits, r.id[0], func(h hit, gid uint32) int { return cmp.Compare(h.gid, gid) })
	}
	if known {
		return
	}
	if len(t.hits) == MaxGroups {
		t.full = true
		return
	}
	if t.hits == nil {
		t.hits, t.names = t.room.hits[:0], t.room.names[:0]
	}
	start := uint32(len(t.names))
	t.names = append(t.names, r.name...)
	h := hit{gid: r.id[0], start: start, end: uint32(len(t.names))}
	if at == len(t.hits) {
		t.hits = append(t.hits, h)
		return
	}
	t.hits = slices.Insert(t.hits, at, h)
}

// merge returns the primary group, those the request names, and those of the image, ascending by ID and each once.
func (t *groupTable) merge(req *Request, primary uint32) []Group {
	// What is asked for waits at the end of the result, which grows towards it and never past what has been taken.
	all := make([]Group, len(t.hits), len(t.hits)+len(req.SupplementalGroups)+2)
	asked := req.appendGroups(append(all, Group{ID: primary, Origin: OriginPrimary}))[len(t.hits):]
	slices.SortStableFunc(asked, func(a, b Group) int { return cmp.Compare(a.ID, b.ID) })
	out := all[:0]
	names := string(t.names)
	for _, h := range t.hits {
		for len(asked) > 0 && asked[0].ID <= h.gid {
			out = join(out, asked[0])
			asked = asked[1:]
		}
		out = join(out, Group{ID: h.gid, Origin: OriginImage, ImageName: names[h.start:h.end]})
	}
	for _, g := range asked {
		out = join(out, g)
	}
	return out
}

// join appends g, or adds its reasons to the last group when that has the same ID.
func join(groups []Group, g Group) []Group {
	if n := len(groups); n > 0 && groups[n-1].ID == g.ID {
		groups[n-1].Origin |= g.Origin
		groups[n-1].ImageName = cmp.Or(groups[n-1].ImageName, g.ImageName)
		return groups
	}
	return append(groups, g)
}
