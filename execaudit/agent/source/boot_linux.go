package source

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns how long ago the boot was, suspension included.
func sinceBoot() time.Duration {
	var since unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &since) // the clock is there since Linux 2.6.39
	return time.Duration(since.Nano())
}
