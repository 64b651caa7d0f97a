package supgroups

// Limits for the tests outside the package.
const (
	MaxFaults  = maxFaults
	MaxRowHead = maxRowHead
)
