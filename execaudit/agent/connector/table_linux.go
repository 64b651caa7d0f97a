package connector

import (
	"maps"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/proc"
	"github.com/lanyard-dev/lanyard/redact"
)

// process is a live one of a session.
type process struct {
	// last is what was read of it last, without its program.
	last agent.Observation
	// threads is how many live; 0 when the fork was not seen.
	threads int
}

// table holds the processes of sessions by PID, until they end.
type table map[int]*process

// thread notes one more.
func (t table) thread(pid int) {
	if p := t[pid]; p != nil && p.threads > 0 {
		p.threads++
	}
}

// ended returns the process that ended with the thread, nil when others of it live or it is of no session. The first
// thread's end is not the process's: another may go on, or run a program in its place.
func (t table) ended(n notice, fs *proc.FS) *process {
	p := t[n.process]
	switch {
	case p == nil:
		return nil
	case p.threads == 0 && p.lives(fs):
		return nil
	case p.threads > 1:
		p.threads--
		return nil
	}
	delete(t, n.process)
	return p
}

// doubt makes sure of all processes after events were lost.
func (t table) doubt(fs *proc.FS) {
	maps.DeleteFunc(t, func(_ int, p *process) bool {
		p.threads = 0
		return !p.lives(fs)
	})
}

// lives reports whether a thread of the process is left.
func (p *process) lives(fs *proc.FS) bool {
	now, err := fs.Open(p.last.PID)
	if err != nil {
		return false
	}
	defer now.Close()
	s, err := now.Stat()
	return err == nil && s.Start == p.last.Start && (!s.Ended || s.Threads > 1)
}

// remember keeps what was read.
func (p *process) remember(o *agent.Observation) {
	p.last = *o
	p.last.File, p.last.Args, p.last.Env, p.last.ArgsCut = "", redact.Bytes{}, redact.Bytes{}, false
}
