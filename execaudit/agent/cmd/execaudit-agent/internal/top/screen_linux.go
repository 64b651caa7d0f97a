package top

import (
	"context"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// What a terminal is told.
const (
	enter = "\x1b[?1049h\x1b[?25l" // the other screen, without a cursor
	leave = "\x1b[?25h\x1b[?1049l"
	home  = "\x1b[H"
	clear = "\x1b[K"
	rest  = "\x1b[J"
)

// screen is a terminal that is drawn on.
type screen struct {
	in, out *os.File
	saved   unix.Termios
}

// isTerminal reports whether the file is one.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// openScreen has keys come one by one and unseen. The keys that end programs still do.
func openScreen(in, out *os.File) (*screen, error) {
	saved, err := unix.IoctlGetTermios(int(in.Fd()), unix.TCGETS)
	if err != nil {
		return nil, err
	}
	s := &screen{in: in, out: out, saved: *saved}
	keys := *saved
	keys.Lflag &^= unix.ICANON | unix.ECHO
	keys.Cc[unix.VMIN], keys.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(in.Fd()), unix.TCSETS, &keys); err != nil {
		return nil, err
	}
	_, err = out.WriteString(enter)
	return s, err
}

// close leaves the terminal as it was.
func (s *screen) close() error {
	_, err := s.out.WriteString(leave)
	if restored := unix.IoctlSetTermios(int(s.in.Fd()), unix.TCSETS, &s.saved); restored != nil {
		return restored
	}
	return err
}

// sizeOf returns the terminal's width and height; zero where it does not say.
func sizeOf(f *os.File) (width, height int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// show draws the lines, which are as many as the terminal has at most.
func (s *screen) show(lines []string) error {
	_, err := s.out.WriteString(home + strings.Join(lines, clear+"\r\n") + clear + rest)
	return err
}

// keyPoll is how often it is looked whether keys are still wanted, in milliseconds.
const keyPoll = 100

// keys sends what is typed until the context ends, and then closes the channel.
func (s *screen) keys(ctx context.Context, typed chan<- byte) {
	defer close(typed)
	fds := []unix.PollFd{{Fd: int32(s.in.Fd()), Events: unix.POLLIN}}
	var buffer [64]byte
	for ctx.Err() == nil {
		if n, err := unix.Poll(fds, keyPoll); err == unix.EINTR || n == 0 {
			continue
		} else if err != nil {
			return
		}
		n, err := unix.Read(int(s.in.Fd()), buffer[:])
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		for _, key := range buffer[:n] {
			select {
			case typed <- key:
			case <-ctx.Done():
				return
			}
		}
	}
}
