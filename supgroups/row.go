package supgroups

// row is what one row of either file says. On a fault it contains what could still be read.
type row struct {
	name []byte
	id   [2]uint32 // passwd: uid and gid; group: gid
	ids  int       // how many of id were read
	rest []byte    // what follows the last ID: a group's members
	at   int       // where in the row rest begins
}

// parseRow reads the first fields of b: a name, a password, and one or two IDs. An open row has more bytes than b
// holds. A blank row or a comment is an empty row without a fault. Of several faults the first in the order of their
// constants is not promised: the name is judged first, then the fields in their order.
func parseRow(b []byte, open bool, ids int) (row, FaultKind) {
	whole := len(b)
	b = trimStart(b)
	lead := whole - len(b)
	if !open {
		b = trimEnd(b)
	}
	if len(b) == 0 || b[0] == '#' {
		return row{}, faultNone
	}
	head, short := b, FaultFields
	if open || len(b) > maxRowHead {
		head, short = b[:min(len(b), maxRowHead)], FaultLong
	}
	end := fieldEnd(head, 0)
	if end == len(head) && short == FaultLong {
		return row{}, short
	}
	r := row{name: head[:end]}
	fault := nameFault(r.name)
	at := fieldEnd(head, end+1)
	for range ids {
		if at >= len(head) {
			return r, first(fault, short)
		}
		start := at + 1
		at = fieldEnd(head, start)
		if at == len(head) && short == FaultLong {
			return r, first(fault, short)
		}
		id, bad := rowID(head[start:at])
		if fault = first(fault, bad); bad == faultNone {
			r.id[r.ids] = id
			r.ids++
		}
	}
	at = min(at+1, len(b))
	r.rest, r.at = b[at:], lead+at
	return r, fault
}

func nameFault(name []byte) FaultKind {
	switch {
	case len(name) == 0 || len(name) > MaxNameBytes:
		return FaultName
	case name[0] == '+' || name[0] == '-':
		return FaultNIS
	}
	return faultNone
}

func first(a, b FaultKind) FaultKind {
	if a != faultNone {
		return a
	}
	return b
}

// fieldEnd returns the index of the next colon at or after i, or len(b). Fields are a few bytes long, so a plain loop
// beats a call into the vectorised search.
func fieldEnd(b []byte, i int) int {
	for i < len(b) && b[i] != ':' {
		i++
	}
	return min(i, len(b))
}

// isBlank is true for the ASCII blanks that do not count before and after a row, the CR of a CRLF among them.
func isBlank(c byte) bool { return c == ' ' || c-'\t' <= '\r'-'\t' }

func trimStart(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	return b
}

func trimEnd(b []byte) []byte {
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}
