// Package node is the commands `lanyard-bridge node`, the daemon of a node, and `lanyard-bridge sessions`.
//
// The daemon folds what the wrapper left in the spool into the journal, finds each session's first process in /proc,
// waits for its end, and renews the node's Lease. One goroutine has the journal and all sessions (daemon.go); the Lease
// (lease.go), the exits (package proc) and the spool's changes (watch_linux.go) have theirs.
//
// A handler is in the Lease while a session of it would get the wrapper (ready.go): every part of the wrapper is there,
// and the runtime's files, or the cover in mode bind, are what the installer left. The runtime itself is not asked: its
// socket is root on the node, and files say earlier what its next start will do.
//
// What is written is written once, whatever dies when: a record stays in the spool until the journal has it on disk, and
// whoever opens the journal asks it first what it has (book.go).
package node
