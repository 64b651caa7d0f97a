package supgroups

import "bytes"

// listsMember reports whether want is one of the comma-separated names in b, which holds the end of a row whole and
// trimmed. The list ends at a colon. Names are compared byte for byte; blanks within the list are part of the names.
func listsMember(b, want []byte) bool {
	for from := 0; ; {
		i := bytes.Index(b[from:], want)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(want)
		if i > 0 && b[i-1] != ',' || from < len(b) && b[from] != ',' && b[from] != ':' {
			continue
		}
		return bytes.IndexByte(b[:i], ':') < 0
	}
}

// memberList answers the same question for a list that comes in parts of any size.
type memberList struct {
	want  []byte
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

// close ends the row, whose trailing blanks do not count, and reports whether the list had the name.
func (l *memberList) close() bool {
	return l.found || !l.ended && l.at == len(l.want)
}
