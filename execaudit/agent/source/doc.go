// Package source puts the agent together: it reads what the kernel tells, looks up where the processes run, follows the
// node's journal, and hands events and notices to outputs.
//
//	reader, err := source.Open(source.ModeAuto, bpf.Options{PinDir: dir}, connector.Options{})
//	defer reader.Close()
//	s, err := source.New(source.Options{
//		Node: "n1", Reader: reader, Origin: reader.Origin, Blind: reader.Blind, Journals: paths, Outputs: outputs,
//	})
//	err = s.Run(ctx) // until ctx is done
//
// One goroutine reads, one takes the time, one follows the journals, and one writes to each output. Everything between
// them is bounded: an output that is slow or fails misses events, which is counted and told to it; it does not keep the
// others or the reader waiting. The kernel's ring is freed as the outputs have written: where the programs are pinned,
// an agent that is killed loses nothing, and the next one reads again what may not have been written.
//
// The container of a process is that of its cgroup: of the path in /proc, or found by the ID in the cgroup file system
// where the process is gone. The records of a session come from the journals, which are looked at every 10 ms while
// something waits for one, and from Options.Waiting. Every 10 seconds the Source looks whether the processes that it
// knows are there: of one that has left the marks nothing more is told, and that is said.
package source
