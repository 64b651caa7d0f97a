// Package node is the commands `lanyard-bridge node`, the daemon of a node, and `lanyard-bridge sessions`.
//
// The daemon folds what the wrapper left in the spool into the journal, finds each session's first process in /proc,
// waits for its end, and renews the node's Lease. One goroutine has the journal and all sessions (daemon.go); the Lease
// (lease.go), the exits (package proc) and the spool's changes (watch_linux.go) have theirs.
//
// What is written is written once, whatever dies when: a record stays in the spool until the journal has it on disk, and
// whoever opens the journal asks it first what it has (book.go).
package node
