// Package pipe reads the output of a process to its end, and not beyond.
package pipe

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hangup is how long a terminal whose session leader has ended may take to say so.
const hangup = 200 * time.Millisecond

// Reader reads a pipe or a terminal that other processes may hold open after the one of interest has ended.
type Reader struct {
	f      *os.File
	tty    bool
	ending bool
	rest   int // bytes still to deliver, once ending
}

// NewReader reads from f, which must support deadlines. tty says that f is a terminal's master side.
func NewReader(f *os.File, tty bool) *Reader { return &Reader{f: f, tty: tty} }

// Finish says that the process has ended. Reads deliver what it left in the pipe, then io.EOF, also when somebody else
// still holds the other side. It may be called while a Read is under way.
func (r *Reader) Finish() { _ = r.f.SetReadDeadline(time.Now()) }

// Read reads like os.File; the end of a terminal, which Linux reports as an I/O error, is io.EOF.
func (r *Reader) Read(p []byte) (int, error) {
	if r.ending {
		return r.readRest(p)
	}
	n, err := r.f.Read(p)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		if err := r.end(); err != nil {
			return 0, err
		}
		return r.readRest(p)
	case errors.Is(err, unix.EIO):
		return n, io.EOF
	}
	return n, err
}

// end notes how much was written until now. All that the process wrote is in the pipe, because it has ended.
func (r *Reader) end() error {
	r.ending = true
	if r.tty {
		// Its buffers are flushed in the background and cannot be counted; but a terminal hangs up, so an end will
		// come.
		r.rest = 1 << 20
		return r.f.SetReadDeadline(time.Now().Add(hangup))
	}
	raw, err := r.f.SyscallConn()
	if err != nil {
		return err
	}
	var counted error
	err = raw.Control(func(fd uintptr) { r.rest, counted = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return errors.Join(err, counted, r.f.SetReadDeadline(time.Time{}))
}

func (r *Reader) readRest(p []byte) (int, error) {
	if r.rest == 0 {
		return 0, io.EOF
	}
	n, err := r.f.Read(p[:min(len(p), r.rest)])
	r.rest -= n
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, unix.EIO) {
		err = io.EOF
	}
	return n, err
}
