package runtime

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// followResize gives a terminal the size of the client's window, as often as that changes.
func followResize(ctx context.Context, tty *os.File, sizes <-chan remotecommand.TerminalSize) {
	for size := range nextSize(ctx, sizes) {
		raw, err := tty.SyscallConn()
		if err != nil {
			return
		}
		// The terminal may be closed by now; its size is of no interest then.
		_ = raw.Control(func(fd uintptr) {
			_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
		})
	}
}

// nextSize yields sizes until there are no more or ctx ends.
func nextSize(ctx context.Context, sizes <-chan remotecommand.TerminalSize) func(func(remotecommand.TerminalSize) bool) {
	return func(yield func(remotecommand.TerminalSize) bool) {
		for {
			select {
			case size, ok := <-sizes:
				if !ok || !yield(size) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
