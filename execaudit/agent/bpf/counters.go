package bpf

// Counters are what the programs saw since they were first loaded, and what was lost of it.
type Counters struct {
	// Seen are the events of marked processes. While one version of the programs replaces another both count.
	Seen uint64
	// Dropped are those of Seen that did not fit into the ring.
	Dropped uint64
	// Missed is how often the kernel did not run a program since it ran already on that CPU, where at most so many events
	// are missing: the kernel does not say whether the process was marked. It includes what agents of other layouts left.
	Missed uint64
	// LostTold is the number of lost events that the last call of Told named, by an earlier reader as well.
	LostTold uint64
}

// Lost is how many events are missing, at most.
func (c Counters) Lost() uint64 { return c.Dropped + c.Missed }

// ProgramStats is what the kernel says of one program.
type ProgramStats struct {
	// Name is the program's: process_fork, process_exec or process_exit.
	Name string
	// Runs and RunTimeNS are how often and how long it ran, in nanoseconds, while the kernel's statistics were enabled
	// (sysctl kernel.bpf_stats_enabled).
	Runs, RunTimeNS uint64
	// Missed is how often it did not run since it ran already on that CPU.
	Missed uint64
	// Instructions is how many the verifier followed; 0 when the kernel does not say.
	Instructions uint32
}
