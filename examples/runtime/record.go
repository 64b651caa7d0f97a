package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func (s *Server) openJournal() (w *journal.Writer, err error) {
	o := journal.Options{
		MaxBytes: s.config.JournalMaxBytes,
		Failed:   func(err error) { s.config.Logger.Error("exec journal", "err", err) },
	}
	if s.config.JournalKeys != "" {
		o.KeyFile = s.path("exec-journal.key")
		if err := s.makeJournalKey(o.KeyFile); err != nil {
			return nil, err
		}
	}
	err = whileLocked(journal.ErrInUse, func() error {
		w, err = journal.Open(s.config.Journal, o)
		return err
	})
	return w, err
}

// makeJournalKey makes the key file of the journal's seals, if it is not there. The operator has the key before the
// first seal is made with it: after a crash between there is one key too many, and none that nobody has.
func (s *Server) makeJournalKey(keyFile string) error {
	if _, err := os.Lstat(keyFile); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	key := journal.NewKey()
	f, err := os.OpenFile(s.config.JournalKeys, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(key.Reveal() + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return key.Install(keyFile)
}

// journalEntry writes the records of one exec session. A nil entry writes none.
type journalEntry struct {
	server  *Server
	dir     string // the container's
	session journal.Session
	mark    monitor.Mark
	process journal.Process
}

// intend records that a process is about to be started, with the mark that it will have; it returns once that is on
// disk.
func (s *Server) intend(c *container, session journal.Session, what call, mark monitor.Mark) (*journalEntry, error) {
	e := &journalEntry{server: s, dir: c.dir, session: session, mark: mark}
	r := journal.Intent(session, what.cmd, what.tty, time.Now())
	if mark.SessionID != 0 {
		r = journal.Marked(r, journal.Process{BootID: bootID(), SessionID: mark.SessionID, LoginUID: mark.LoginUID})
	}
	return e, s.journal.Append(r)
}

// loginUID returns the login UID that marks a session, of the range by which agents know them. It is no identity: two
// sessions may have one, and the kernel tells them apart.
func loginUID(execID string) uint32 {
	sum := sha256.Sum256([]byte(execID))
	return agent.MinLoginUID + binary.BigEndian.Uint32(sum[:])%(agent.MaxLoginUID-agent.MinLoginUID+1)
}

func (s *Server) journalSession(c *container, auditID string) journal.Session {
	out := journal.Session{
		Node: s.config.Node, ContainerID: c.record.ID, ExecID: newID()[:32], AuditID: auditID,
		SandboxID: c.record.SandboxID, Container: c.config.GetMetadata().GetName(),
	}
	if b := s.sandbox(c.record.SandboxID); b != nil {
		m := b.config.GetMetadata()
		out.Namespace, out.Pod, out.PodUID = m.GetNamespace(), m.GetName(), m.GetUid()
	}
	return out
}

// name is the session's within its container, "" for one that is not recorded.
func (e *journalEntry) name() string {
	if e == nil {
		return ""
	}
	return e.session.ExecID
}

// started records the process. It runs already, so an error cannot stop it; it is logged.
func (e *journalEntry) started(p monitor.Started) {
	if e == nil {
		return
	}
	e.process = journalProcess(p, e.mark)
	e.append(journal.Start(e.session, e.process, p.At))
	e.server.inBackground(e.sync)
	if err := monitor.ForgetSession(e.dir, e.name()); err != nil {
		e.server.config.Logger.Error("exec session", "err", err)
	}
}

// end records how the process ended, and when; with an error neither is known, and the time is now.
func (e *journalEntry) end(exited monitor.Exited, err error) {
	if e == nil {
		return
	}
	r := journal.End(e.session, e.process, exited.Code, exited.At)
	if err != nil {
		r = journal.Lost(e.session, e.process, err.Error(), time.Now())
	}
	e.append(r)
	e.server.inBackground(e.sync)
}

// append writes the record before it returns, so that no end of this runtime loses it. The disk has it a little later:
// the session, whose intent is on disk, is not kept waiting.
func (e *journalEntry) append(r journal.Record) {
	if err := e.server.journal.AppendUnsynced(r); err != nil {
		e.server.config.Logger.Error("exec journal", "kind", r.Kind, "err", err)
	}
}

func (e *journalEntry) sync() {
	if err := e.server.journal.Sync(); err != nil {
		e.server.config.Logger.Error("exec journal", "err", err)
	}
}

// journalProcess returns the process of a session that was to have the mark.
func journalProcess(p monitor.Started, mark monitor.Mark) journal.Process {
	out := journal.Process{PID: p.Pid, StartTicks: p.StartTime, BootID: bootID(), SessionID: p.SessionID}
	if p.SessionID == mark.SessionID {
		out.LoginUID = mark.LoginUID
	}
	return out
}

// bootID tells this boot's clock ticks from another's; empty if the kernel does not say.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// endOpenSessions ends the sessions that an earlier runtime left open in the journal: their processes were killed when
// it went. Where it did not come to record the process, the container's monitor has kept it.
func (s *Server) endOpenSessions() error {
	open, err := s.openSessions()
	for _, r := range open {
		err = errors.Join(err, s.endOpenSession(r))
	}
	return err
}

func (s *Server) endOpenSession(last journal.Record) error {
	dir, process := s.path("containers", last.ContainerID), last.Process
	if last.Kind == journal.KindIntent {
		process = journal.Process{}
	}
	kept, err := monitor.ReadSession(dir, last.ExecID)
	if kept != nil && last.Kind == journal.KindIntent {
		process = journalProcess(*kept, monitor.Mark{SessionID: last.SessionID, LoginUID: last.LoginUID})
		err = errors.Join(err, s.journal.Append(journal.Start(last.Session, process, kept.At)))
	}
	return errors.Join(err,
		s.journal.Append(journal.Lost(last.Session, process, "runtime restarted", time.Now())),
		monitor.ForgetSession(dir, last.ExecID))
}

// openSessions returns the last record of each session in the journal's files that has no end. A line that is not a
// record is logged.
func (s *Server) openSessions() (map[journal.SessionKey]journal.Record, error) {
	files, err := journal.Files(s.config.Journal)
	open := map[journal.SessionKey]journal.Record{}
	for _, path := range files {
		err = errors.Join(err, s.readSessions(path, open))
	}
	return open, err
}

func (s *Server) readSessions(path string, open map[journal.SessionKey]journal.Record) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for r, err := range journal.NewReader(f, path).Records() {
		var line *journal.LineError
		switch {
		case errors.As(err, &line):
			// A crash can leave half a line. It is not a session that anybody could find.
			s.config.Logger.Warn("exec journal", "err", line)
		case err != nil:
			return err
		case r.Kind == journal.KindEnd:
			delete(open, r.SessionKey())
		case r.Kind == journal.KindRefusal: // nothing was started
		default:
			open[r.SessionKey()] = r
		}
	}
	return nil
}
