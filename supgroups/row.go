package supgroups

// row is the head of one row of either file: its name and IDs, and what follows them.
type row struct {
	name []byte
	ids  [2]uint32
	rest []byte
}

// parseRow reads the first fields of b: a name, a password, and one or two IDs. An open row has more bytes than b holds.
// The fault is FaultNone for a usable row; a blank row or a comment has no name and no fault.
func parseRow(b []byte, open bool, ids int) (row, Fault) {
	b = trimBlanks(b, !open)
	if len(b) == 0 || b[0] == '#' {
		return row{}, FaultNone
	}
	if b[0] == '+' || b[0] == '-' {
		return row{}, FaultNIS
	}
	limit, short := len(b), FaultFields
	if open || limit > MaxRowHead {
		limit, short = min(limit, MaxRowHead), FaultLong
	}
	var r row
	name := fieldEnd(b[:limit], 0)
	if name == limit {
		return row{}, short
	}
	if name == 0 || name > MaxNameBytes {
		return row{}, FaultName
	}
	r.name = b[:name]
	at := fieldEnd(b[:limit], name+1)
	for i := range ids {
		if at == limit {
			return row{}, short
		}
		start := at + 1
		if at = fieldEnd(b[:limit], start); at == limit && short == FaultLong {
			return row{}, short
		}
		var fault Fault
		if r.ids[i], fault = rowID(b[start:at]); fault != FaultNone {
			return row{}, fault
		}
	}
	r.rest = b[min(at+1, len(b)):]
	return r, FaultNone
}

// fieldEnd returns the index of the next colon at or after i, or len(b). Fields are a few bytes long, so a plain loop
// beats a call into the vectorised search.
func fieldEnd(b []byte, i int) int {
	for i < len(b) && b[i] != ':' {
		i++
	}
	return min(i, len(b))
}

func isBlank(c byte) bool { return c == ' ' || c-'\t' <= '\r'-'\t' }

// trimBlanks drops ASCII blanks, the CR of a CRLF among them, before and, where the end is in sight, after a row.
func trimBlanks(b []byte, end bool) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for end && len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}
