package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// follower reads a journal as it grows and is rotated. It is for one goroutine at a time, but for its status.
type follower struct {
	path    string
	take    func(*journal.Record)
	decoder journal.Decoder
	file    *os.File // the one that is read; nil before there is one
	at      int64
	rest    []byte // of a line whose end is not there yet
	skip    bool   // the line is too long
	status  JournalStatus
}

// JournalStatus is how far a journal was read.
type JournalStatus struct {
	Path string
	// Records were read. Faults are lines that are not records.
	Records, Faults int64
	// Error is the last look's, "" for none. It is for people.
	Error string
}

// look reads what has come. The journal need not exist.
func (f *follower) look() error {
	if f.file == nil {
		if err := f.open(nil); err != nil || f.file == nil {
			return err
		}
	}
	for {
		if err := f.read(); err != nil {
			return err
		}
		turned, err := f.turn()
		if err != nil || !turned {
			return err
		}
	}
}

// turn goes to the next file where this one was rotated away, and to the beginning of one that was cut.
func (f *follower) turn() (bool, error) {
	here, err := f.file.Stat()
	if err != nil {
		return false, err
	}
	if here.Size() < f.at {
		f.at, f.rest = 0, nil
		_, err := f.file.Seek(0, io.SeekStart)
		return true, err
	}
	there, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(here, there) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := f.read(); err != nil { // what came between its end and its rotation
		return false, err
	}
	return true, f.open(here)
}

// open opens the file after the one given, or the oldest.
func (f *follower) open(after os.FileInfo) error {
	names, err := journal.Files(f.path)
	if err != nil || len(names) == 0 {
		return err
	}
	next := names[0]
	for i, name := range names {
		if info, err := os.Stat(name); err == nil && after != nil && os.SameFile(info, after) && i+1 < len(names) {
			next = names[i+1]
		}
	}
	file, err := os.Open(next)
	if err != nil {
		return err
	}
	f.close()
	f.file = file
	return nil
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close() // it was only read
	}
	f.file, f.at, f.rest, f.skip = nil, 0, nil, false
}

const chunkBytes = 64 << 10

// read takes all whole lines up to the file's end.
func (f *follower) read() error {
	chunk := make([]byte, chunkBytes)
	for {
		n, err := f.file.Read(chunk)
		f.at += int64(n)
		f.lines(chunk[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (f *follower) lines(text []byte) {
	for {
		line, after, whole := bytes.Cut(text, []byte{'\n'})
		if !whole {
			if len(f.rest)+len(line) > journal.MaxLineBytes {
				f.skip, f.rest = true, nil
			}
			if !f.skip {
				f.rest = append(f.rest, line...)
			}
			return
		}
		switch {
		case f.skip:
			f.status.Faults++
		case len(f.rest) > 0:
			f.line(append(f.rest, line...))
		default:
			f.line(line)
		}
		f.rest, f.skip = f.rest[:0], false
		text = after
	}
}

func (f *follower) line(line []byte) {
	if len(line) == 0 {
		return
	}
	var r journal.Record
	err := f.decoder.Decode(line, &r)
	if fault := new(journal.Fault); errors.As(err, &fault) && fault.Field == "kind" {
		return // a mark, a seal, or a kind to come
	}
	if err != nil {
		f.status.Faults++
		return
	}
	f.status.Records++
	f.take(&r)
}

// look takes in the records that came.
func (s *Source) look() {
	s.looking.Lock()
	defer s.looking.Unlock()
	for _, f := range s.journals {
		err := f.look()
		s.mu.Lock()
		f.status.Error = ""
		if err != nil {
			f.status.Error = err.Error()
		}
		s.journalStates[f.path] = f.status
		s.mu.Unlock()
	}
	if s.options.Waiting == nil || !s.waits() {
		return
	}
	records, err := s.options.Waiting()
	if err != nil {
		s.mu.Lock()
		s.trouble = err.Error()
		s.mu.Unlock()
	}
	for i := range records {
		s.record(&records[i])
	}
}

func (s *Source) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracker.Held() > 0
}

// follow looks into the journals: at once when an observation waits for a record, and from time to time.
func (s *Source) follow(ctx context.Context) {
	for {
		wait := lookIdle
		if s.waits() {
			wait = lookWaiting
		}
		select {
		case <-ctx.Done():
			return
		case <-s.flow:
		case <-time.After(wait):
		}
		s.look()
	}
}
