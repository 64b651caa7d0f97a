// Package agent tells what the processes of exec sessions do, from what the kernel says of them: it puts a session's
// record of the node's journal beside each process, and says what is missing.
//
// A runtime or a bridge has the kernel mark each session with an audit session of its own, which every process of the
// session has until it is gone, whatever its parents are. A Tracker takes what the kernel told (Observation) and what
// the node wrote down about its sessions (journal.Record), and gives an Event for each observation and a Notice for
// what was lost, what nobody has a record of, and what could not be seen.
//
// # Whose a process is
//
// A mark is a session's if the intent of the journal has it: boot ID, audit session ID and login UID. What only the
// process was found to have, as in a start record without its intent, is no evidence. A mark of the range without one
// is forged: an unmarked process may set its own login UID. Events wait Options.Hold for the record.
//
// The runtime has the mark before the session begins, since it makes the session's first process. With runc that is
//
//	runc exec               in the runtime's cgroup and mount namespace
//	  runc init             a new program; its cgroup may be the container's already (cgroup v2)
//	    runc init           a fork, which ends
//	      runc init         a fork, in the container's namespaces; moved to its cgroup; then it runs
//	      sh -c …           the session's first program
//
// So a session begins with the first program that runs outside of the runtime's mount namespace, which is that of the
// first process with the mark, and where namespaces are not known with the first in the container's cgroup. What
// started before that process is the runtime's (RoleRuntime), and what started later the session's, whoever made it:
// the exits of the runtime's processes are the runtime's still, and a process that leaves the container is the
// session's still. In doubt, after a loss for example, a process is the session's, so that nothing of a session is
// hidden.
//
// The package is pure: no clock, no file. Package bpf has the kernel's programs, package connector the reader for where
// they cannot be loaded, package source joins them.
package agent
