package connector

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Shrink makes the kernel keep next to nothing.
func Shrink(r *Reader) (err error) {
	controlled := r.socket.raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 1)
	})
	return errors.Join(controlled, err)
}
