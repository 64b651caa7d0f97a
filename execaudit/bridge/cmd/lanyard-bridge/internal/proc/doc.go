// Package proc reads from /proc what identifies a session's processes: the kernel's mark, and which process of a
// session the runtime started first. It needs no right but to read /proc of the host's PID namespace.
package proc
