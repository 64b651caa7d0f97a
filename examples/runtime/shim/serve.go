package shim

import (
	"errors"
	"io"
	"os"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

var (
	errNoFiles = errors.New("exec needs three files")
	errUnknown = errors.New("unknown operation")
)

// session is one connection of the runtime.
type session struct {
	*monitor.Conn
	gone  chan struct{} // closed when the runtime hung up
	leave func()        // says that it starts no process, or that its process is gone
}

// serve answers requests until the socket is closed.
func (c *container) serve() {
	for {
		conn, err := c.socket.AcceptUnix()
		if err != nil {
			return
		}
		s := &session{Conn: monitor.NewConn(conn), gone: make(chan struct{}), leave: c.starters.enter()}
		c.sessions.Go(func() {
			defer s.leave()
			c.answer(s)
		})
	}
}

func (c *container) answer(s *session) {
	defer s.Close()
	var req monitor.Request
	files, err := s.Receive(&req)
	if err != nil {
		return
	}
	if req.Op != monitor.OpExec && req.Op != monitor.OpMark {
		s.leave()
	}
	if req.Op != monitor.OpMark { // after which the runtime has more to say
		go s.watch()
	}
	if err := c.do(s, req, files); err != nil {
		_ = s.Send(monitor.Reply{Error: err.Error()})
		return
	}
	_ = s.Send(monitor.Reply{})
}

// watch notices the end of the connection; a runtime sends nothing after its last request.
func (s *session) watch() {
	defer close(s.gone)
	for {
		var rest monitor.Request
		if _, err := s.Receive(&rest); err != nil {
			return
		}
	}
}

func (c *container) do(s *session, req monitor.Request, files []*os.File) error {
	defer closeAll(files)
	switch req.Op {
	case monitor.OpExec:
		return c.exec(s, req, files)
	case monitor.OpMark:
		return c.execMarked(s, req.LoginUID)
	case monitor.OpAttach:
		return c.attach(s, req, files)
	case monitor.OpResize:
		return c.stdio.resize(req.Width, req.Height)
	case monitor.OpReopen:
		return c.stdio.log.reopen()
	case monitor.OpWait:
		return c.wait(s)
	case monitor.OpSettle:
		c.starters.await()
		return nil
	default:
		return errUnknown
	}
}

// wait answers once the container has ended.
func (c *container) wait(s *session) error {
	select {
	case <-c.ended:
		return s.Send(monitor.Reply{Exited: &c.exited})
	case <-s.gone:
		return io.EOF
	}
}
