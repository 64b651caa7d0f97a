// Package sweep removes what ran in a network namespace of its own: every process in it, the cgroups of containers among
// them, mounts below a directory, and the directory.
//
// A [Keeper] is a process that does so when its starter ends, however that is: it reads from a pipe that only the starter
// has open for writing, which the kernel closes with it. It is the starter's own program, started again under another
// name, which the package sees before the program's main function runs.
package sweep
