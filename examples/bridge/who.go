package bridge

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Who tells whose process one is: by what the node wrote down, the API server's audit log, and the webhook's records.
type Who struct {
	node, boot string
	marks      *sessions.Marks
	sessions   map[bridge.SessionID]sessions.Session
}

// Who reads all of the evidence once nothing waits on the node.
func (r *Rig) Who(ctx context.Context) (*Who, error) {
	if err := r.Settle(ctx); err != nil {
		return nil, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, err
	}
	uses, err := r.uses()
	if err != nil {
		return nil, err
	}
	records, recordsErr := all(r.RecordsFile(), sessions.Read)
	audits, auditsErr := all(r.AuditLog(), sessions.ReadAudits)
	w := &Who{
		node: r.worker().Name, boot: strings.TrimSpace(string(boot)), marks: sessions.NewMarks(uses), sessions: map[bridge.SessionID]sessions.Session{},
	}
	for _, s := range sessions.Judge(sessions.Evidence{Records: records, Audits: audits, Uses: uses}, time.Now()) {
		w.sessions[s.ID] = s
	}
	return w, errors.Join(recordsErr, auditsErr)
}

func (r *Rig) uses() (out []sessions.Use, _ error) {
	records, err := r.Journal(nil)
	for _, record := range records {
		if use, ok := sessions.UseOf(record); ok {
			out = append(out, use)
		}
	}
	return out, err
}

// all reads a file; one that is not there has nothing. A last line that is being written is not there yet.
func all[T any](file string, read func(io.Reader, string) iter.Seq2[T, error]) (out []T, _ error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var last error
	for one, err := range read(f, file) {
		if last != nil {
			return nil, last
		}
		if last = err; err == nil {
			out = append(out, one)
		}
	}
	return out, nil
}

// Session returns what is known of a session.
func (w *Who) Session(id bridge.SessionID) (sessions.Session, bool) {
	s, known := w.sessions[id]
	return s, known
}

// Of tells whose process one of the node's is: what its mark is worth, and the session where the node recorded it.
func (w *Who) Of(p Process) (sessions.Origin, sessions.Session) {
	origin := w.marks.Judge(sessions.Process{
		Mark:     sessions.Mark{Node: w.node, BootID: w.boot, SessionID: p.Session},
		LoginUID: p.LoginUID,
	})
	return origin, w.sessions[origin.Use.Session]
}

// Sessions returns what `lanyard-bridge sessions` tells of the same.
func (r *Rig) Sessions(ctx context.Context) (string, error) {
	out, err := r.command(ctx, "sessions", "--records="+r.RecordsFile(), "--audit="+r.AuditLog(), "--journal="+r.JournalFile())
	return string(out), err
}

// Refusals are the journal's records of what the node refused, in its order.
func (r *Rig) Refusals(ctx context.Context) ([]journal.Record, error) {
	if err := r.Settle(ctx); err != nil {
		return nil, err
	}
	return r.Journal(func(j journal.Record) bool { return j.Kind == journal.KindRefusal })
}
