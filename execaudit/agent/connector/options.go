package connector

import "errors"

// DefaultMaxProcesses is how many live processes of sessions a Reader remembers.
const DefaultMaxProcesses = 32768

// ErrUnsupported says that the kernel did not answer: it has no proc connector, or this is not its first PID, user and
// network namespace.
var ErrUnsupported = errors.New("no answer from the kernel's proc connector")

// Options tune a Reader. The zero value watches the agent's range of login UIDs, in /proc.
type Options struct {
	// Proc is where the machine's processes are; empty is /proc.
	Proc string
	// MinLoginUID and MaxLoginUID are the range of the sessions' marks; both 0 are the agent's.
	MinLoginUID, MaxLoginUID uint32
	// ArgBytes and EnvBytes are how much is read of a program's arguments and environment; 0 means 4 KiB and 32 KiB.
	ArgBytes, EnvBytes int
	// MaxProcesses bounds the processes that are remembered; 0 means DefaultMaxProcesses.
	MaxProcesses int
}

// Counters say what was seen and what is missing, since Open.
type Counters struct {
	// Seen counts the observations that Read returned.
	Seen uint64
	// Overruns is how often the kernel had to drop events because the reader was behind. How many it dropped is unknown.
	Overruns uint64
	// Gone counts forks and execs of sessions that are not told, because the process was no more when it was to be read.
	// What else it did is missing too.
	Gone uint64
	// Unread counts the same of processes of which it is not known whose they were. Most are of no session.
	Unread uint64
	// Forgotten counts processes of sessions that were too many to remember: their exits are not told.
	Forgotten uint64
}
