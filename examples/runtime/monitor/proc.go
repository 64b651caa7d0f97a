package monitor

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// StartTime returns when the process started, in clock ticks since boot: field 22 of /proc/PID/stat. With the PID it
// names one process for as long as the machine is up. A zombie still has it.
func StartTime(pid int) (uint64, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// The name in field 2 may hold anything, spaces and parentheses too; only the last parenthesis ends it.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat: %d fields after the name, want 20 or more", pid, len(fields))
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}
