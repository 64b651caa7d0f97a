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

// SessionID returns the kernel's audit session ID of the process, which all its descendants share: /proc/PID/sessionid.
// The kernel shows 4294967295 for a process whose login UID was never set. It is 0 where the kernel keeps none.
func SessionID(pid int) (uint32, error) {
	id, err := sessionIDIn("/proc/" + strconv.Itoa(pid))
	if err != nil {
		if _, alive := os.Stat("/proc/" + strconv.Itoa(pid)); alive == nil {
			return 0, nil // a kernel without auditing
		}
	}
	return id, err
}

// ThreadSessionID returns that of the thread that calls it.
func ThreadSessionID() (uint32, error) { return sessionIDIn("/proc/thread-self") }

func sessionIDIn(dir string) (uint32, error) {
	b, err := os.ReadFile(dir + "/sessionid")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 32)
	return uint32(n), err
}
