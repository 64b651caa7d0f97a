package transport

import (
	"os"
	"syscall"
	"unsafe"
)

// isTerminal asks for terminal attributes, which only a terminal has. A character device such as /dev/null is not one.
func isTerminal(file *os.File) bool {
	if file == nil {
		return false
	}
	var attributes syscall.Termios
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&attributes)))
	return errno == 0
}
