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
	own *owner // of the journal, if Open made the Writer

	write  sync.Mutex // held by the one who writes; guards what follows
	file   File       // changes with sync held too
	torn   bool       // the last line may lack its newline
	chain  *chain     // nil for a Writer that does not chain
	next   *round     // of the records written from now on
	failed error      // of the sync that failed

	sync sync.Mutex // held by the one who syncs; guards what is in a round
}

// round is one sync and the records that it makes durable.
type round struct {
	done bool
	err  error
}

// chain is where a Writer stands in its journal.
type chain struct {
	hasher   *hasher
	whole    digest // after all lines that have their newline
	tornLine digest // after the torn line, too
	size     int64  // of the file, in bytes
	rotateAt int64  // the size at which a rotation that failed is tried again
	marked   bool   // the file has its mark
	entire   bool   // the last line is all there, if perhaps without its newline
	unsealed int    // records since the last seal
}

// NewWriter returns a Writer that appends to file, which is empty or ends in a
// newline. The Writer owns file from now on. Its records are not chained, since it does
// not know what stands before them: that is for Open.
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

// Close seals, syncs and closes the file, so that another Writer may have it. No other
// call may be in progress.
func (w *Writer) Close() error {
	var err error
	if w.own != nil {
		err = w.own.close(w)
	}
	return errors.Join(err, w.Sync(), w.file.Close())
}

// put writes the line of r and returns the round that makes it durable.
func (w *Writer) put(r Record) (*round, error) {
	line, err := encode(r, w.chain != nil)
	if err != nil {
		return nil, err
	}
	w.write.Lock()
	defer w.write.Unlock()
	if w.chain == nil {
		return w.next, w.putLine(line)
	}
	if err := w.begin(); err != nil {
		return w.next, err
	}
	before := w.before()
	if err := w.putLine(before.link(line)); err != nil {
		return w.next, err
	}
	w.chain.unsealed++
	w.own.notice(w.chain)
	return w.next, nil
}

// begin writes the file's mark, if it is not there.
func (w *Writer) begin() error {
	if w.chain.marked {
		return nil
	}
	before := w.before()
	line, err := w.own.mark(w.own.number).line(&before)
	if err != nil {
		return err
	}
	err = w.putLine(line)
	w.chain.marked = w.chain.entire
	return err
}

// before returns the digest of what stands before the next line.
func (w *Writer) before() digest {
	if w.torn {
		return w.chain.tornLine
	}
	return w.chain.whole
}

// putLine writes a line, on a line of its own whatever stands before it.
func (w *Writer) putLine(line []byte) error {
	if w.failed != nil {
		if w.chain != nil {
			w.chain.entire = false
		}
		return w.failed
	}
	out := append(line, '\n')
	if w.torn {
		out = append([]byte{'\n'}, out...)
	}
	n, err := w.file.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	switch {
	case w.chain != nil && err == nil:
		w.chain.whole = w.chain.hasher.after(w.before(), line)
		w.chain.size += int64(n)
		w.chain.entire, w.torn = true, false
	case w.chain != nil:
		written := w.readBack(out, n)
		w.chain.entire = len(written) >= len(out)-1
		w.tear(written)
	default:
		w.torn = err != nil
	}
	return err
}

// readBack returns how much of out is in the file after an error: not what the error says, but what readers will find.
func (w *Writer) readBack(out []byte, n int) []byte {
	if f, ok := w.file.(io.ReaderAt); ok {
		in := make([]byte, len(out))
		if m, err := f.ReadAt(in, w.chain.size); err == nil || err == io.EOF {
			return in[:m]
		}
	}
	return out[:n]
}

// tear takes account of a line of which a part is in the file.
func (w *Writer) tear(written []byte) {
	c := w.chain
	c.size += int64(len(written))
	if w.torn && len(written) > 0 { // it began with a newline
		c.whole, w.torn, written = c.tornLine, false, written[1:]
	}
	if n := len(written); n > 0 {
		w.torn = written[n-1] != '\n'
		if !w.torn {
			c.whole = c.hasher.after(c.whole, written[:n-1])
			return
		}
		c.tornLine = c.hasher.after(c.whole, written)
	}
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
	if err := w.file.Sync(); err != nil {
		w.write.Lock()
		defer w.write.Unlock()
		return w.fail(err)
	}
	return nil
}

// fail makes a sync's error the one of every later call.
func (w *Writer) fail(err error) error {
	if w.failed == nil {
		w.failed = fmt.Errorf("%w: %w", ErrSyncFailed, err)
	}
	return w.failed
}

func encode(r Record, chained bool) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if line, err = withBytes(line, &r); err != nil {
		return nil, err
	}
	size := len(line)
	if chained {
		size += prevBytes - len("}")
	}
	if size > MaxLineBytes {
		return nil, fmt.Errorf("%w: %d bytes exceed %d", ErrLineTooLong, size, MaxLineBytes)
	}
	return line, nil
}
