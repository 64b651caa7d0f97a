// Package bpf has the kernel's programs of the agent, and the reader of what they tell: every process of every marked
// session comes to be, begins to run a program, and is gone.
//
// Load puts three programs on the tracepoints sched_process_fork, sched_process_exec and sched_process_exit. The first
// thing each does is to compare the task's login UID with the range of the marks; every other process leaves there.
// What they tell goes through one ring buffer, in an order in which a process's fork comes before its exec and both
// before its exit. What does not fit is counted, for each CPU.
//
// The reader frees the ring's space only when it is said that the events were told (Programs.Told). With Options.PinDir
// the programs, the ring and the reader's place stay in the kernel when the agent ends, however it ends: the next one
// reads on where the last one had told. It may read again what that one had read and perhaps told; Observation.Again
// says so.
//
// The programs are CO-RE: the object is compiled once, without any header of a kernel, and fitted to the types of the
// kernel that loads it. They need Linux 5.8 with BTF and CONFIG_AUDIT, and the capabilities CAP_BPF and CAP_PERFMON.
// Where programs of the type tp_btf are refused the same source compiled for raw tracepoints is tried, which needs the
// helper bpf_probe_read_kernel that a locked down kernel refuses. The object for little-endian machines fits amd64 and
// arm64; on other machines and systems every function returns ErrUnsupported.
//
// The programs' licence is Apache-2.0 or GPL-2.0; the object says "GPL", since the kernel lets only such programs
// follow its types and call bpf_probe_read_user.
package bpf
