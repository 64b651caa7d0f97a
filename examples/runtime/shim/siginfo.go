package shim

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// siginfoPid reads si_pid of a SIGCHLD's siginfo_t, which x/sys leaves as bytes: it is the first field of the union
// that follows three ints, aligned as a pointer is.
func siginfoPid(info *unix.Siginfo) int {
	offset := max(3*4, (3*4+unsafe.Sizeof(uintptr(0))-1)&^(unsafe.Sizeof(uintptr(0))-1))
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), offset)))
}
