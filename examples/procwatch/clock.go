package procwatch

import (
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, the unit of times in /proc.
const ticksPerSecond = 100

// when returns the wall clock's time of a kernel time, and the same in ticks since the machine started, sleep counted.
func when(since int64) (at time.Time, ticks uint64) {
	var awake, asleep unix.Timespec
	// They fail for clocks only that a kernel does not have.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake)
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &asleep)
	now := time.Now()
	age := awake.Nano() - since
	return now.Add(-time.Duration(age)).UTC().Round(0), uint64(asleep.Nano()-age) / uint64(time.Second/ticksPerSecond)
}
