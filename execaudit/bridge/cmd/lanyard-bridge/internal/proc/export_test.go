//go:build linux

package proc

// WithoutPtrace makes an Exits as if it had no CAP_SYS_PTRACE.
func WithoutPtrace(e *Exits) { e.ptrace = false }

// Watched returns how many processes' ends have not been seen.
func Watched(e *Exits) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.watched)
}

// ParseStat is parseStat.
var ParseStat = parseStat
