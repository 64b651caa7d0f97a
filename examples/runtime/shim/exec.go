package shim

import (
	"os"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// exec runs one more process in the container and stays with it to its end. When the runtime hangs up, the process is
// killed: nobody reads its output or its exit code any more.
func (c *container) exec(s *session, req monitor.Request, files []*os.File) error {
	if len(files) != 3 {
		return errNoFiles
	}
	args := []string{"--process", req.Process, c.spec.ID}
	if req.Console != "" {
		args = append([]string{"--console-socket", req.Console}, args...)
	}
	p, err := c.spawner.detach(files, req.RawEnv, "exec", args...)
	// The process has its own copies now; a reader must see the end when the process is gone.
	closeAll(files)
	if err != nil {
		return err
	}
	started := monitor.Started{Pid: p.pid, StartTime: p.startTime, SessionID: p.sessionID, At: p.seen}
	if err := c.keep(req.Session, started); err != nil {
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
