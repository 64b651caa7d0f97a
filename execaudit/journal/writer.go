package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxLineBytes is the longest line a Writer writes and a Reader reads, in bytes
// without the newline. An intent at its own bounds is shorter whatever JSON
// escapes in it.
const MaxLineBytes = 1 << 20 // 1 MiB

// File is what a Writer needs of an *os.File.
type File interface {
	io.WriteCloser
	// Sync returns once all that was written is on disk.
	Sync() error
}

// Writer appends records to a file. It is safe for concurrent use: records that
// arrive while the file is being synced share the next sync.
type Writer struct {
	file File

	write  sync.Mutex // held by the one who writes; guards what follows
	torn   bool       // the last line may lack its newline
	next   *round     // of the records written from now on
	failed error      // of the sync that failed

	sync sync.Mutex // held by the one who syncs; guards what is in a round
}

// round is one sync and the records that it makes durable.
type round struct {
	done bool
	err  error
}

// NewWriter returns a Writer that appends to file, which is empty or ends in a
// newline. The Writer owns file from now on.
func NewWriter(file File) *Writer {
	return &Writer{file: file, next: new(round)}
}

// Append writes r and returns once it is on disk. A runtime that cannot append
// an intent must not start the process.
//
// Errors: Record.Validate's, ErrLineTooLong, or the file's. After an error of
// the file the record may be there or not, whole or torn; later records stand
// on lines of their own, and readers report a torn one. A failed sync sticks:
// its error, which unwraps to ErrSyncFailed, is that of every later call.
func (w *Writer) Append(r Record) error {
	mine, err := w.put(r)
	if err != nil {
		return err
	}
	return w.finish(mine)
}

// AppendUnsynced writes r and does not wait for the disk: the record outlives
// this process now, and the machine after the next Append, Sync or Close. It is
// for starts and ends, whose session an intent on disk vouches for. Errors are
// those of Append.
func (w *Writer) AppendUnsynced(r Record) error {
	_, err := w.put(r)
	return err
}

// Sync returns once all records written before it are on disk, or with the
// file's error, which sticks as Append's does.
func (w *Writer) Sync() error {
	w.write.Lock()
	mine := w.next
	w.write.Unlock()
	return w.finish(mine)
}

// Close syncs and closes the file, so that another Writer may have it. No other
// call may be in progress.
func (w *Writer) Close() error {
	return errors.Join(w.Sync(), w.file.Close())
}

// put writes the line of r and returns the round that makes it durable.
func (w *Writer) put(r Record) (*round, error) {
	line, err := encode(r)
	if err != nil {
		return nil, err
	}
	w.write.Lock()
	defer w.write.Unlock()
	if w.failed != nil {
		return nil, w.failed
	}
	if w.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := w.file.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	w.torn = err != nil
	return w.next, err
}

// finish returns once mine is done. Who comes first does it for all that wait:
// a round that is not done is the one that still takes records.
func (w *Writer) finish(mine *round) error {
	w.sync.Lock()
	defer w.sync.Unlock()
	if !mine.done {
		mine.done, mine.err = true, w.syncRound()
	}
	return mine.err
}

// syncRound begins the next round and syncs what was written so far, unless a sync
// has failed: after that the file's own Sync would lie.
func (w *Writer) syncRound() error {
	w.write.Lock()
	w.next = new(round)
	failed := w.failed
	w.write.Unlock()
	if failed != nil {
		return failed
	}
	err := w.file.Sync()
	if err == nil {
		return nil
	}
	w.write.Lock()
	defer w.write.Unlock()
	w.failed = fmt.Errorf("%w: %w", ErrSyncFailed, err)
	return w.failed
}

func encode(r Record) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(line) > MaxLineBytes {
		return nil, fmt.Errorf("%w: %d bytes exceed %d", ErrLineTooLong, len(line), MaxLineBytes)
	}
	return append(line, '\n'), nil
}
