package shim

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// pause waits for the orphans of its PID namespace for ever. Being init, it ignores signals it has no handler for; the
// runtime ends it, and everything in the namespace with it, by SIGKILL from outside.
func pause() int {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	for range ended {
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 && err != unix.EINTR {
				break
			}
		}
	}
	return 0
}
