//go:build unix

package rootfs

import "syscall"

// openFlags keep a pipe that takes the file's place from blocking, and a terminal from becoming the process's own.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
