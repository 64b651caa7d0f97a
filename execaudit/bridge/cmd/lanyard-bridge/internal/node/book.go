//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// book is the journal, open or not.
type book struct {
	path    string
	options journal.Options
	writer  *journal.Writer // nil while the journal cannot be written
}

// history is what the journal has of the sessions that have not ended, and of those that were asked about.
type history struct {
	open     map[key]*entry
	wrote    map[key]written
	refusals map[refusalKey]bool
}

// open opens the journal and reads all of it. A writer that failed is opened anew in this way, since the file may have
// a record whose Append failed.
func (b *book) open(sessions map[key]*entry, refusals map[refusalKey]*refusal) (history, error) {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return history{}, err
	}
	w, err := journal.Open(b.path, b.options)
	if err != nil {
		return history{}, err
	}
	h, err := b.read(sessions, refusals)
	if err != nil {
		return history{}, errors.Join(err, w.Close())
	}
	b.writer = w
	return h, nil
}

func (b *book) read(sessions map[key]*entry, refusals map[refusalKey]*refusal) (history, error) {
	h := history{open: map[key]*entry{}, wrote: map[key]written{}, refusals: map[refusalKey]bool{}}
	files, err := journal.Files(b.path)
	if err != nil {
		return h, err
	}
	for _, name := range files {
		if err := h.readFile(name, sessions, refusals); err != nil {
			return h, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return h, nil
}

func (h *history) readFile(name string, sessions map[key]*entry, refusals map[refusalKey]*refusal) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	for record, err := range journal.NewReader(file, name).Records() {
		if line := new(journal.LineError); errors.As(err, &line) {
			continue // one that a crash left unfinished, or that is another program's
		}
		if err != nil {
			return err
		}
		if record.Kind == journal.KindRefusal {
			if k := refusalKeyOf(record); refusals[k] != nil {
				h.refusals[k] = true
			}
			continue
		}
		h.add(record, sessions)
	}
	return nil
}

func (h *history) add(r journal.Record, sessions map[key]*entry) {
	s, ok := stepOf(r.Kind)
	if !ok {
		return
	}
	k := keyOf(r.Session, r.Process)
	wrote := h.wrote[k]
	wrote[s] = true
	if s == stepEnd && sessions[k] == nil {
		delete(h.open, k)
		delete(h.wrote, k)
		return
	}
	if e := h.open[k]; e == nil {
		e = resumed(r)
		h.open[e.key], k = e, e.key
	} else if r.PID > 0 {
		e.process.PID, e.process.StartTicks = r.PID, r.StartTicks
	}
	h.open[k].ended = s == stepEnd
	h.wrote[k] = wrote
}

// append writes records in their order, and returns once they are on disk. refused is told of a record that no journal
// takes, and which is left out. After an error the book is closed.
func (b *book) append(records []*journal.Record, refused func(*journal.Record, error)) error {
	for _, r := range records {
		err := b.writer.AppendUnsynced(*r)
		if errors.Is(err, journal.ErrInvalidRecord) || errors.Is(err, journal.ErrLineTooLong) {
			refused(r, err)
			continue
		}
		if err != nil {
			return b.fail(err)
		}
	}
	if err := b.writer.Sync(); err != nil {
		return b.fail(err)
	}
	return nil
}

// fail closes the journal. What its Close says was said before.
func (b *book) fail(err error) error {
	_ = b.writer.Close()
	b.writer = nil
	return err
}

func (b *book) close() error {
	if b.writer == nil {
		return nil
	}
	w := b.writer
	b.writer = nil
	return w.Close()
}
