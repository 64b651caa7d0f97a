package shim

import (
	"os"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/examples/runtime/namespace"
)

// exec runs one more process in the container and stays with it to its end. When the runtime hangs up, the process is
// killed: nobody reads its output or its exit code any more.
func (c *container) exec(s *session, req monitor.Request, files []*os.File) error {
	p, err := c.launchExec(req, files)
	if err != nil {
		return err
	}
	return c.attend(s, req.Session, p)
}

// execMarked gives a thread a mark of the kernel's, tells the runtime, and has the process that it asks for next
// started by that thread, which ends then: the mark is the process's from its begin.
func (c *container) execMarked(s *session, loginUID uint32) error {
	var req monitor.Request
	var p detached
	err := namespace.OnThread(func() error {
		mark := setMark(loginUID)
		if err := s.Send(monitor.Reply{Mark: &mark}); err != nil {
			return err
		}
		files, err := s.Receive(&req)
		defer closeAll(files)
		if err != nil {
			return err
		}
		go s.watch()
		if req.Op != monitor.OpExec {
			return errUnknown
		}
		p, err = c.launchExec(req, files)
		return err
	})
	if err != nil {
		return err
	}
	return c.attend(s, req.Session, p)
}

// launchExec starts the process, from this thread.
func (c *container) launchExec(req monitor.Request, files []*os.File) (p detached, err error) {
	if len(files) != 3 {
		return p, errNoFiles
	}
	args := []string{"--process", req.Process, c.spec.ID}
	if req.Console != "" {
		args = append([]string{"--console-socket", req.Console}, args...)
	}
	p, err = c.spawner.detach(files, req.RawEnv, "exec", args...)
	// The process has its own copies now; a reader must see the end when the process is gone.
	closeAll(files)
	return p, err
}

// attend stays with the process.
func (c *container) attend(s *session, name string, p detached) error {
	started := monitor.Started{Pid: p.pid, StartTime: p.startTime, SessionID: p.sessionID, At: p.seen}
	if err := c.keep(name, started); err != nil {
		c.spawner.reaper.kill(p.pid)
		<-p.exit
		return err
	}
	// A runtime that is gone already shows below.
	_ = s.Send(monitor.Reply{Started: &started})
	e := c.finish(s, p)
	return s.Send(monitor.Reply{Exited: &monitor.Exited{Code: e.code, At: e.seen}})
}

// keep writes down whose process it is: a runtime that is killed now would leave nothing of it in its journal.
func (c *container) keep(session string, p monitor.Started) error {
	if session == "" {
		return nil
	}
	return monitor.WriteSession(c.dir, session, p)
}

func (c *container) finish(s *session, p detached) exit {
	select {
	case e := <-p.exit:
		return e
	case <-s.gone:
		c.spawner.reaper.kill(p.pid)
		return <-p.exit
	}
}
