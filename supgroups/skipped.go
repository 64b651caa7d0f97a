package supgroups

import "fmt"

// MaxReports is how many skipped rows of one file are reported one by one; the rest are only counted.
const MaxReports = 8

// Fault is why a row of /etc/passwd or /etc/group was skipped.
type Fault uint8

const (
	// FaultNone: the row was used.
	FaultNone Fault = iota
	// FaultFields: too few fields; passwd needs four, group three.
	FaultFields
	// FaultName: no name, or one longer than MaxNameBytes.
	FaultName
	// FaultNotNumber: an ID is empty or not decimal digits.
	FaultNotNumber
	// FaultIDRange: an ID exceeds MaxID.
	FaultIDRange
	// FaultNIS: the name begins with + or -, which other systems read as a directive.
	FaultNIS
	// FaultLong: name, password and IDs do not end within the row's first MaxRowHead bytes.
	FaultLong
)

var faultNames = [...]string{
	"used", "too few fields", "no usable name", "id is not a number", "id out of range", "NIS directive", "row head too long",
}

// String returns a few words, such as "id out of range".
func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return fmt.Sprintf("Fault(%d)", uint8(f))
}

// Report is one skipped row. It holds none of the row's text.
type Report struct {
	// Line counts from 1.
	Line int
	// Fault is never FaultNone.
	Fault Fault
}

// Skipped tells which rows of one file were not used though they were about the user or the group in question: from
// Resolve, rows that have the user's name or ID, the group's name, or the user among their members. CheckPasswd and
// CheckGroup tell it of whole files. Comments and blank lines are not among them.
type Skipped struct {
	// Rows is how many were skipped.
	Rows int
	// First holds the first MaxReports of them, in the file's order; nil when none were skipped.
	First []Report
}

func (s *Skipped) add(line int, f Fault) {
	s.Rows++
	if len(s.First) < MaxReports {
		s.First = append(s.First, Report{Line: line, Fault: f})
	}
}
