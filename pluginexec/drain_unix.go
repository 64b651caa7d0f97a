//go:build unix

package pluginexec

import (
	"io"
	"os"
	"syscall"
)

// maxPipe is the most that a pipe holds on Linux without privileges; elsewhere it is less.
const maxPipe = 1 << 20 // 1 MiB

// drain writes what is in the pipe now, without waiting for more. A reader that was not scheduled before its deadline
// has left it there, although the process wrote it in time.
func drain(w io.Writer, r *os.File) {
	conn, err := r.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		buffer := make([]byte, 4<<10) // 4 KiB
		for total := 0; total < maxPipe; {
			n, err := syscall.Read(int(fd), buffer)
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 {
				return
			}
			_, _ = w.Write(buffer[:n])
			total += n
		}
	})
}
