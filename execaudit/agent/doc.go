// Package agent tells what the processes of exec sessions do, from what the kernel says of them: it puts a session's
// record of the node's journal beside each process, and says what is missing.
//
// A runtime or a bridge has the kernel mark each session with an audit session of its own, which every process of the
// session has until it is gone, whatever its parents are. A Tracker takes what the kernel told (Observation) and what the
// node wrote down about its sessions (journal.Record), and gives an Event for each observation and a Notice for what was
// lost, what nobody has a record of, and what could not be seen.
//
// The package is pure: no clock, no file. Package bpf has the kernel's programs, package connector the reader for where
// they cannot be loaded, package source joins them.
package agent
