package agent

import (
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// AddRecord takes in one record of the node's journal, or one that still waits for it; also one twice. Those of another
// boot, and those without a mark, which is a session ID and a login UID, are counted only. It keeps nothing of r.
func (t *Tracker) AddRecord(r *journal.Record) {
	switch {
	case r.Kind == journal.KindRefusal:
		return
	case r.SessionID == 0 || r.LoginUID == 0:
		t.counts.Unmarked++
		return
	case r.BootID != t.options.BootID:
		t.counts.OtherBoots++
		return
	case r.Kind == journal.KindIntent:
		t.intend(r)
		return
	}
	m := t.marks[markKey{r.SessionID, r.LoginUID}]
	if m == nil || m.record == nil || m.record.SessionKey() != r.SessionKey() {
		return // a mark that only the process was found to have is no evidence
	}
	if r.PID > 0 {
		m.start(Task{PID: r.PID, Start: time.Duration(r.StartTicks) * tick})
	}
	if r.Kind == journal.KindEnd {
		m.ended, m.touched = true, t.now
	}
}

// intend notes whose mark it is.
func (t *Tracker) intend(r *journal.Record) {
	m := t.mark(markKey{r.SessionID, r.LoginUID})
	if m.record != nil && m.record.SessionKey() != r.SessionKey() && !m.conflict {
		m.conflict = true
		t.counts.Conflicts++
		t.tell(&Notice{
			Kind: NoticeConflict, Time: r.Time, SessionID: m.session, LoginUID: m.login,
			ContainerID: strings.Clone(r.ContainerID),
			Reason:      "two sessions of the journal have this mark",
		})
	}
	if m.record != nil {
		return
	}
	m.record = clone(&r.Session)
	t.bare.Remove(m.place)
	m.place = t.recorded.PushBack(m)
	t.release(m)
	m.released = false
	t.bound(t.recorded)
}

// clone copies the texts, which a decoder has in one block with those of others.
func clone(s *journal.Session) *journal.Session {
	c := *s
	for _, text := range []*string{
		&c.Node, &c.ContainerID, &c.ExecID, &c.AuditID, &c.ExecSession, &c.SandboxID, &c.Namespace, &c.Pod, &c.PodUID,
		&c.Container,
	} {
		*text = strings.Clone(*text)
	}
	return &c
}
