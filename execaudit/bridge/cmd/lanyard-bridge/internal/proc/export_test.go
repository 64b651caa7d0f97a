//go:build linux

package proc

// WithoutPtrace makes an Exits as if it had no CAP_SYS_PTRACE.
func WithoutPtrace(e *Exits) { e.ptrace = false }

// ParseStat is parseStat.
var ParseStat = parseStat
