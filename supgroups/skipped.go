package supgroups

import "fmt"

// maxFaults is how many skipped rows of one file are kept one by one; the others are only counted.
const maxFaults = 8

// FaultKind is the rule that a skipped row of /etc/passwd or /etc/group breaks.
type FaultKind uint8

const (
	faultNone FaultKind = iota
	// FaultFields means too few fields; passwd needs four, group three.
	FaultFields
	// FaultName means no name, or one longer than MaxNameBytes.
	FaultName
	// FaultNotNumber means that an ID is empty or not decimal digits.
	FaultNotNumber
	// FaultIDRange means that an ID exceeds MaxID.
	FaultIDRange
	// FaultNIS means that the name begins with + or -, which other systems read as a directive.
	FaultNIS
	// FaultLong means that name, password and IDs do not end within the first 1 KiB of the row. The list of members
	// that follows them may have any length.
	FaultLong
)

var faultNames = [...]string{
	"used", "too few fields", "no usable name", "id is not a number", "id out of range", "NIS directive", "row head too long",
}

// String returns a few words, such as "id out of range"; "used" for the zero FaultKind, which no Fault has.
func (k FaultKind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return fmt.Sprintf("FaultKind(%d)", uint8(k))
}

// Fault is one skipped row: its place and the rule it breaks. It contains none of the row's text.
type Fault struct {
	// Line counts from 1.
	Line int
	// Kind is the first broken rule that was found.
	Kind FaultKind
}

// Skipped describes the rows of one file that were not used: from Resolve, only rows about the user or group in
// question, which are those with the user's name or ID, with the group's name, or with the user among their members;
// from CheckPasswd and CheckGroup, all such rows of a file. Comments and blank lines are not counted.
type Skipped struct {
	// Rows is how many were skipped.
	Rows int
	// First has the first eight of them, in the file's order; nil when none were skipped.
	First []Fault
}

func (s *Skipped) add(line int, kind FaultKind) {
	s.Rows++
	if len(s.First) < maxFaults {
		s.First = append(s.First, Fault{Line: line, Kind: kind})
	}
}
