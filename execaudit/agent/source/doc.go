// Package source puts the agent together: it reads what the kernel tells, looks up where the processes run, follows the
// node's journal, and hands events and notices to outputs.
//
//	s, err := source.New(source.Options{Node: "n1", Reader: reader, Journals: []string{"/var/lib/lanyard/exec.jsonl"}, Outputs: …})
//	err = s.Run(ctx) // until ctx is done
//
// One goroutine reads, one takes the time, one follows each journal, and one writes to each output. Everything between
// them is bounded: an output that is slow or fails misses events, which is counted and told to it; it does not keep the
// others or the reader waiting.
package source
