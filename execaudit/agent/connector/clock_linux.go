package connector

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the kernel's time of events: since the machine booted, suspension not counted.
func monotonic() int64 { return clock(unix.CLOCK_MONOTONIC) }

// sinceBoot returns the time since the machine booted, suspension included, of an event's time.
func sinceBoot(since int64) time.Duration {
	awake, all := clock(unix.CLOCK_MONOTONIC), clock(unix.CLOCK_BOOTTIME)
	return time.Duration(all - (awake - since))
}

func clock(id int32) int64 {
	var t unix.Timespec
	// It fails for clocks only that a kernel does not have.
	_ = unix.ClockGettime(id, &t)
	return t.Nano()
}
