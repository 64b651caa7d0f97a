//go:build linux

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// foldShare is how many times as long as the last reading of the spool took the next one is put off: it reads the names
// of tokens that were used, too, and so takes a fifth of one core at most, however many sessions there are.
const foldShare = 4

// incompleteFor is how old a file is before it is told as incomplete; younger ones are being written.
const incompleteFor = 10 * time.Second

// gather is how long after the first change the spool is read. The runtime is at work then, on the way to the session's
// first process, and the person who asked for it waits: the journal does not, since the record is on the disk.
const gather = 50 * time.Millisecond

// foldSoon folds after a pause.
func (d *daemon) foldSoon() {
	if d.gathering {
		return
	}
	d.gathering = true
	d.again.Reset(max(gather, d.folded.Add(foldShare*d.took).Sub(d.now())))
}

// fold takes what waits in the spool.
func (d *daemon) fold() {
	began := d.now()
	d.gathering = false
	defer func() {
		d.folded = d.now()
		d.took = d.folded.Sub(began)
	}()
	dir := d.host(d.Spool)
	broken := map[string]string{}
	for name, text := range d.odd {
		d.tell(broken, &spool.FileError{Name: name, Err: errors.New(text)})
	}
	d.beyond = 0
	for record, err := range spool.Records(dir) {
		if err != nil {
			d.tell(broken, err)
			continue
		}
		if len(d.order) >= maxOwed {
			d.beyond++
			continue
		}
		d.take(newEntry(record), record)
	}
	for w, err := range spool.Refusals(dir) {
		if err != nil {
			d.tell(broken, err)
			continue
		}
		d.takeRefusal(newRefusal(w))
	}
	if beyond, err := spool.TakeBeyond(dir); err != nil {
		d.tell(broken, fmt.Errorf("refusals that were counted only: %w", err))
	} else if beyond > 0 {
		d.log.Warn("refusals that the spool had no room for", "count", beyond)
		d.status.refusedBeyond(beyond)
		d.takeRefusal(&refusal{class: classBeyond, record: journal.Refused(
			journal.Session{Node: d.Node, ContainerID: unknown, ExecID: unknown},
			fmt.Sprintf("%d refusals that the spool had no room for", beyond), nil, false, d.now())})
	}
	d.told = broken
	d.status.broken(broken)
}

// take begins a session, unless it is known.
func (d *daemon) take(e *entry, r spool.Record) {
	if known := d.entries[e.key]; known != nil {
		if known.owed[stepIntent] == nil && known.wrote[stepIntent] {
			known.inSpool, known.nonce = true, e.nonce
			d.release(known)
		}
		return
	}
	d.entries[e.key] = e
	d.queue(e)
	if r.Mark != spool.MarkSet {
		d.status.unmarked()
		d.lose(e, "not followed: its processes have no mark: "+r.Mark)
		return
	}
	if d.read { // else the journal may know more
		d.resume(e)
	}
}

func (d *daemon) takeRefusal(r *refusal) {
	k := refusalKeyOf(r.record)
	if known := d.refusals[k]; known == nil {
		d.refusals[k] = r
	} else if known.wrote {
		d.dismiss(known)
	}
}

// release lets the spool forget a session that the journal has, and the daemon one that is over.
func (d *daemon) release(e *entry) {
	if e.inSpool && e.wrote[stepIntent] {
		if err := spool.Done(d.host(d.Spool), e.nonce); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.log.Error("a file of the spool cannot be marked as done", "error", err)
			d.status.spoolFailed()
			return
		}
		e.inSpool = false
	}
	if e.over() {
		delete(d.entries, e.key)
	}
}

// dismiss removes a refusal that the journal has.
func (d *daemon) dismiss(r *refusal) {
	if r.name != "" {
		if err := spool.RemoveRefusal(d.host(d.Spool), r.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.log.Error("a file of the spool cannot be removed", "error", err)
			d.status.spoolFailed()
			return
		}
	}
	delete(d.refusals, refusalKeyOf(r.record))
}

// publish says how much waits.
func (d *daemon) publish() {
	waiting := d.beyond + len(d.refusals)
	for _, e := range d.order {
		if e.owed[stepIntent] != nil {
			waiting++
		}
	}
	d.status.sessions(waiting, len(d.entries))
}

// tell logs what is wrong with a file of the spool, once.
func (d *daemon) tell(broken map[string]string, err error) {
	name, text := "", err.Error()
	if file := new(spool.FileError); errors.As(err, &file) {
		name, text = file.Name, file.Err.Error()
	}
	if errors.Is(err, spool.ErrIncomplete) {
		info, err := os.Lstat(filepath.Join(d.host(d.Spool), name))
		if err != nil || d.now().Sub(info.ModTime()) < incompleteFor {
			return
		}
	}
	broken[name] = text
	if d.told[name] != text {
		d.log.Warn("a file of the spool is left where it is", "file", name, "error", text)
	}
}

// sweep removes the files of tokens whose time is over, and notes what are not files.
func (d *daemon) sweep() {
	dir := d.host(d.Spool)
	d.odd = map[string]string{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			d.odd[e.Name()] = "not a regular file"
		}
	}
	if err = errors.Join(err, spool.Sweep(dir, d.now().Add(-margin))); err != nil {
		d.log.Error("the spool cannot be swept", "error", err)
		d.status.spoolFailed()
	}
}
