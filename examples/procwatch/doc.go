// Package procwatch tells which processes come, run programs and go in containers, without an agent: it listens to the
// kernel's proc connector and writes the lines that execaudit/attribution/procevents reads. It needs root, in the
// machine's first PID and user namespaces, and a kernel with CONFIG_PROC_EVENTS.
//
//	w, err := procwatch.Open(procwatch.Options{Node: "node-1"})
//	defer w.Close()
//	err = w.Follow(ctx, file) // until ctx ends
//
// The kernel tells PIDs only; the rest is read from /proc right after. What was gone by then, and what the kernel could
// not keep for a slow reader, is counted and never guessed. Two limits follow: a process that replaces its image twice
// within the time of a read shows the second environment for both, and a process that clones with CLONE_PARENT has its
// own parent as the child's. Neither can make a session's first process where the runtime keeps an exec journal, and
// neither changes the kernel's mark of a session, which each line has where something set one.
package procwatch
