//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// How long a journal that cannot be written is left alone: from the first to the longest, doubled each time.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 30 * time.Second
)

// maxOwed is how many sessions are kept in memory while the journal cannot be written. What comes then waits in the
// spool.
const maxOwed = 10_000

// daemon is the one goroutine that has the journal and the sessions.
type daemon struct {
	Options
	proc   proc.FS
	boot   string
	exits  *proc.Exits
	book   book
	status *board

	entries  map[key]*entry
	pending  map[key]*entry // whose first process is looked for
	order    []*entry       // with records that are owed, in the order of their first
	refusals map[refusalKey]*refusal
	watched  map[watched]watch

	look   *time.Timer // of the next look into /proc
	retry  *time.Timer // of the next try to open the journal
	pause  time.Duration
	read   bool              // the journal was, since the start
	beyond int               // files of the spool that were not taken, since too many are owed
	told   map[string]string // what is wrong with files of the spool, by name
	odd    map[string]string // of them, those that are not files

	again     *time.Timer // of the next reading of the spool
	gathering bool        // which is set
	folded    time.Time   // when it was read, and how long that took
	took      time.Duration
}

// watched is a process whose end is waited for, and watch is why.
type (
	watched struct {
		pid        int
		startTicks uint64
	}
	watch struct {
		entry   *entry
		runtime bool
	}
)

func newDaemon(o Options, status *board) (*daemon, error) {
	d := &daemon{
		Options: o, proc: proc.FS{Root: o.Proc}, status: status,
		entries: map[key]*entry{}, pending: map[key]*entry{}, refusals: map[refusalKey]*refusal{}, watched: map[watched]watch{}, told: map[string]string{},
		look: stopped(), retry: stopped(), again: stopped(), pause: firstRetry,
	}
	d.book = book{path: o.host(o.Journal), options: journal.Options{
		MaxBytes: o.JournalBytes, Keep: o.JournalKeep, Failed: status.journalFailed,
	}}
	if o.JournalKey != "" {
		d.book.options.KeyFile = o.host(o.JournalKey)
	}
	var err error
	if d.boot, err = d.proc.BootID(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.host(o.Spool), 0o700); err != nil {
		return nil, err
	}
	if d.exits, err = proc.NewExits(d.proc); err != nil {
		return nil, err
	}
	return d, nil
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// run works until the context ends.
func (d *daemon) run(ctx context.Context) error {
	changes := watchDir(d.host(d.Spool), d.log)
	defer changes.close()
	rescan := time.NewTicker(d.Rescan)
	defer rescan.Stop()
	d.sweep()
	d.fold()
	d.reopen()
	for {
		d.follow()
		d.flush()
		d.publish()
		select {
		case <-ctx.Done():
			return d.close()
		case <-changes.changed:
			d.foldSoon()
		case <-d.again.C:
			d.fold()
		case exit := <-d.exits.Ended():
			d.exited(exit)
		case <-d.look.C:
		case <-d.retry.C:
			d.reopen()
		case <-rescan.C:
			changes.renew()
			d.sweep()
			d.fold()
		}
	}
}

func (d *daemon) close() error {
	d.look.Stop()
	d.retry.Stop()
	d.again.Stop()
	return errors.Join(d.exits.Close(), d.book.close())
}

// reopen opens the journal, and takes from it what was written and which sessions go on.
func (d *daemon) reopen() {
	if d.book.writer != nil {
		return
	}
	h, err := d.book.open(d.entries, d.refusals)
	if err != nil {
		d.broken(fmt.Errorf("opening the journal: %w", err))
		return
	}
	d.read = true
	d.status.journalWorks()
	for k, past := range h.open {
		e := d.entries[k]
		if e == nil {
			if past.ended {
				continue
			}
			e = past
			d.entries[k] = e
		}
		if e.process.PID == 0 {
			e.process = past.process
		}
		if past.ended {
			e.ended, e.follow.next = true, time.Time{}
		}
		e.wrote = h.wrote[k]
	}
	for k, e := range d.entries {
		if h.open[k] == nil {
			e.wrote = written{}
		}
		d.resume(e)
	}
	for k, r := range d.refusals {
		r.wrote = h.refusals[k]
	}
}

// broken says that the journal cannot be written, and tries again later.
func (d *daemon) broken(err error) {
	d.status.journalFailed(err)
	d.log.Error("records wait in the spool", "error", err, "retry", d.pause.String())
	d.retry.Reset(d.pause)
	d.pause = min(2*d.pause, longestRetry)
}

// flush writes what is owed.
func (d *daemon) flush() {
	if d.book.writer == nil {
		return
	}
	var records []*journal.Record
	for _, e := range d.order {
		for s := range e.owed {
			if e.owed[s] != nil && !e.wrote[s] {
				records = append(records, e.owed[s])
			}
		}
	}
	for _, r := range d.refusals {
		if !r.wrote {
			records = append(records, &r.record)
		}
	}
	if len(records) > 0 {
		if err := d.book.append(records, d.unwritable); err != nil {
			d.broken(fmt.Errorf("writing the journal: %w", err))
			return
		}
		d.pause = firstRetry
		d.status.wrote(records)
	}
	d.settle()
}

// unwritable is told of a record that no journal takes.
func (d *daemon) unwritable(r *journal.Record, err error) {
	d.log.Error("a record that cannot be in a journal is left out", "container", r.ContainerID, "exec", r.ExecID, "error", err)
	d.status.unwritable()
}

// settle marks what is on disk now, and lets the spool know.
func (d *daemon) settle() {
	for _, e := range d.order {
		for s := range e.owed {
			e.wrote[s] = e.wrote[s] || e.owed[s] != nil
			e.owed[s] = nil
		}
		e.queued = false
		d.release(e)
	}
	d.order = nil
	for _, r := range d.refusals {
		if !r.wrote {
			r.wrote = true
			d.status.refused(r.class)
		}
		d.dismiss(r)
	}
}

// queue takes an entry into the order of those that owe.
func (d *daemon) queue(e *entry) {
	if !e.queued {
		e.queued = true
		d.order = append(d.order, e)
	}
}
