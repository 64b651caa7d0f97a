package shim

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/examples/runtime/pipe"
)

// stdio is the container's standard streams, this side of them.
type stdio struct {
	stdin  *os.File // nil without one; the terminal when there is one
	tty    *os.File // nil without terminal
	out    []*pipe.Reader
	stdout *fanout
	stderr *fanout // nil with a terminal
	log    *criLog
	copied sync.WaitGroup

	closeStdin sync.Once
	once       bool // stdin ends with the first attach
}

// newStdio opens the log and, without a terminal, the pipes. The second result is the container's side, to be closed
// once it is handed over.
func newStdio(spec monitor.Spec) (*stdio, []*os.File, error) {
	log, err := openLog(spec.LogPath)
	if err != nil {
		return nil, nil, err
	}
	s := &stdio{log: log, once: spec.StdinOnce, stdout: newFanout(&stream{log: log, name: "stdout"})}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := []*os.File{null, null, null}
	if spec.Terminal {
		return s, theirs, nil
	}
	s.stderr = newFanout(&stream{log: log, name: "stderr"})
	if spec.Stdin {
		theirs[0], s.stdin, err = os.Pipe()
	}
	for i := 1; i <= 2 && err == nil; i++ {
		var ours *os.File
		ours, theirs[i], err = os.Pipe()
		s.out = append(s.out, pipe.NewReader(ours, false))
	}
	return s, theirs, err
}

// start begins to copy; with a terminal, console is it.
func (s *stdio) start(spec monitor.Spec, console *os.File) {
	if console != nil {
		s.tty, s.out = console, []*pipe.Reader{pipe.NewReader(console, true)}
		if spec.Stdin {
			s.stdin = console
		}
	}
	for i, to := range []*fanout{s.stdout, s.stderr}[:len(s.out)] {
		s.copied.Add(1)
		go func() {
			defer s.copied.Done()
			copyStream(to, s.out[i])
		}()
	}
}

func copyStream(to *fanout, from io.Reader) {
	defer to.end()
	_, _ = io.Copy(to, from)
}

// drain waits until all output that the container left is copied.
func (s *stdio) drain() {
	for _, r := range s.out {
		r.Finish()
	}
	s.copied.Wait()
	s.log.close()
}

func (s *stdio) endStdin() {
	if s.stdin == nil || s.stdin == s.tty {
		return
	}
	s.closeStdin.Do(func() { s.stdin.Close() })
}

func (s *stdio) resize(width, height uint16) error {
	if s.tty == nil {
		return errors.New("container has no terminal")
	}
	raw, err := s.tty.SyscallConn()
	if err != nil {
		return err
	}
	var resized error
	err = raw.Control(func(fd uintptr) {
		resized = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width})
	})
	return errors.Join(err, resized)
}
