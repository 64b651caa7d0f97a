package shim

import (
	"errors"
	"io"
	"os"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

var errAttachFiles = errors.New("attach has not the files it names")

// attach connects a client's files to the container's streams until the runtime hangs up or the container ends.
func (c *container) attach(s *session, req monitor.Request, files []*os.File) error {
	take := func(given bool) (f *os.File) {
		if given && len(files) > 0 {
			f, files = files[0], files[1:]
		}
		return f
	}
	in, out, errs := take(req.Stdin), take(req.Stdout), take(req.Stderr)
	if (in == nil) == req.Stdin || (out == nil) == req.Stdout || (errs == nil) == req.Stderr {
		return errAttachFiles
	}
	if out != nil {
		c.stdio.stdout.add(out)
		defer c.stdio.stdout.drop(out)
	}
	if errs != nil && c.stdio.stderr != nil {
		c.stdio.stderr.add(errs)
		defer c.stdio.stderr.drop(errs)
	}
	if err := s.Send(monitor.Reply{Attached: true}); err != nil {
		return err
	}
	if in != nil {
		go c.stdio.feed(in)
	}
	select {
	case <-s.gone:
	case <-c.ended:
	}
	return nil
}

// feed copies a client's input into the container until the client's side ends.
func (s *stdio) feed(from *os.File) {
	if s.stdin == nil {
		return
	}
	_, _ = io.Copy(s.stdin, from)
	if s.once {
		s.endStdin()
	}
}
