package supgroups

import "strconv"

// MaxID is the largest user or group ID that is accepted, in requests and in the rows of the files: what the Kubernetes
// API accepts, and what fits the signed 32-bit integers of every tool on the way (CVE-2024-40635).
const MaxID = 1<<31 - 1

func inRange(v int64) (uint32, bool) {
	return uint32(v), v >= 0 && v <= MaxID
}

func checkID(field string, v int64) (uint32, error) {
	id, ok := inRange(v)
	if !ok {
		return 0, &IDError{Field: field, Value: strconv.FormatInt(v, 10)}
	}
	return id, nil
}

// isNumber reports whether s is decimal digits after an optional sign, which makes it an ID and never a name.
func isNumber(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// rowID reads an ID of a row: decimal digits and nothing else.
func rowID(b []byte) (id uint32, fault FaultKind) {
	if len(b) == 0 {
		return 0, FaultNotNumber
	}
	var n uint64
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, FaultNotNumber
		}
		// Held just above the limit, n cannot wrap round however many digits follow.
		n = min(n*10+uint64(c), MaxID+1)
	}
	if n > MaxID {
		return 0, FaultIDRange
	}
	return uint32(n), faultNone
}
