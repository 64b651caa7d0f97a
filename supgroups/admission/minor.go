package admission

import "strconv"

// Minor is a Kubernetes minor version: 36 is Kubernetes 1.36.
type Minor int

// The versions in which the gate's stage changed, and the newest whose rules are known.
const (
	MinorAlpha  Minor = 31
	MinorBeta   Minor = 33
	MinorGA     Minor = 35
	MinorNewest Minor = 37
)

// Known returns the version whose rules are applied to m, and whether that is m itself: false for a version newer than
// MinorNewest, which is treated as MinorNewest.
func (m Minor) Known() (Minor, bool) {
	if m > MinorNewest {
		return MinorNewest, false
	}
	return m, true
}

// String is "1.36".
func (m Minor) String() string { return "1." + strconv.Itoa(int(m)) }
