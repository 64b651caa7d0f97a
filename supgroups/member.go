package supgroups

import "bytes"

// listsMember reports whether want is one of the comma-separated names in b, which holds the end of a row whole and
// trimmed. The list ends at a colon. Names are compared byte for byte; blanks within the list are part of the names. An
// empty want is in no list.
func listsMember(b []byte, want string) bool {
	if want == "" {
		return false
	}
	if end := bytes.IndexByte(b, ':'); end >= 0 {
		b = b[:end]
	}
	for {
		end := bytes.IndexByte(b, ',')
		if end < 0 {
			return string(b) == want
		}
		if string(b[:end]) == want {
			return true
		}
		b = b[end+1:]
	}
}

// isMemberAt reports whether b, as in listsMember, has want for one of its names at index i, which may be anything.
func isMemberAt(b []byte, i int, want string) bool {
	if want == "" || i < 0 || i > len(b)-len(want) || i > 0 && b[i-1] != ',' {
		return false
	}
	end := i + len(want)
	if end < len(b) && b[end] != ',' && b[end] != ':' {
		return false
	}
	return string(b[i:end]) == want && bytes.IndexByte(b[:i], ':') < 0
}

// memberList answers the same question for a list that comes in parts of any size.
type memberList struct {
	want  string
	ended bool // a colon ended the list
	found bool
	at    int  // how many bytes of the current name agree with want, or -1
	blank bool // only blanks since the current name agreed whole
}

func (l *memberList) extend(part []byte) {
	for _, c := range part {
		if l.ended || l.found {
			return
		}
		l.step(c)
	}
}

func (l *memberList) step(c byte) {
	switch {
	case c == ',' || c == ':':
		l.found = l.at == len(l.want) && !l.blank
		l.ended = c == ':'
		l.at, l.blank = 0, false
	case l.at == len(l.want) && isBlank(c):
		l.blank = true
	case l.at >= 0 && l.at < len(l.want) && l.want[l.at] == c:
		l.at++
	default:
		l.at = -1
	}
}

// close ends the row, whose trailing blanks do not count, and reports whether the list had the name. A name that itself
// ends in a blank cannot be the last of a row.
func (l *memberList) close() bool {
	return l.found || !l.ended && l.at == len(l.want) && !isBlank(l.want[l.at-1])
}
