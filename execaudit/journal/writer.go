package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// MaxLineBytes is the longest line a Writer writes and a Reader reads, in bytes
// without the newline. An intent at its own bounds is shorter whatever JSON
// escapes in it.
const MaxLineBytes = 1 << 20 // 1 MiB

// Errors of Open, Append and AppendUnsynced.
var (
	// ErrNotRegular: the path is not a regular file.
	ErrNotRegular = errors.New("journal is not a regular file")
	// ErrLineTooLong: the record's line is longer than MaxLineBytes.
	ErrLineTooLong = errors.New("journal record too long")
)

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

	write sync.Mutex // held by the one who writes; guards torn and next
	torn  bool       // the last line may lack its newline
	next  *round     // of the records written from now on

	sync sync.Mutex // held by the one who syncs; guards what is in a round
}

// round is one sync and the records that it makes durable.
type round struct {
	done bool
	err  error
}

// Open returns a Writer on the file at path, created with mode 0600 when it is
// not there, its name then synced into its directory. A last line that a crash
// left unfinished is closed with a newline, never removed, and reported by
// readers as malformed. To rotate, rename the file and Open anew.
func Open(path string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	torn, err := endsTorn(file)
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	w := NewWriter(file)
	w.torn = torn
	return w, nil
}

// NewWriter returns a Writer that appends to file, which is empty or ends in a
// newline. The Writer owns file from now on.
func NewWriter(file File) *Writer {
	return &Writer{file: file, next: new(round)}
}

// endsTorn reports whether the last byte of file is not a newline.
func endsTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%w: %s", ErrNotRegular, file.Name())
	}
	if info.Size() == 0 {
		return false, nil
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return last[0] != '\n', err
}

// Append writes r and returns once it is on disk. A runtime that cannot append
// an intent must not start the process.
//
// Errors: Record.Validate's, ErrLineTooLong, or the file's. After an error of
// the file the record may be there or not, whole or torn; later records stand
// on lines of their own.
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
// file's error.
func (w *Writer) Sync() error {
	w.write.Lock()
	mine := w.next
	w.write.Unlock()
	return w.finish(mine)
}

// Close syncs and closes the file. No other call may be in progress.
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
	if w.torn {
		line = append([]byte{'\n'}, line...)
	}
	_, err = w.file.Write(line)
	w.torn = err != nil
	return w.next, err
}

// finish returns once mine is done. Who comes first does it for all that wait:
// a round that is not done is the one that still takes records.
func (w *Writer) finish(mine *round) error {
	w.sync.Lock()
	defer w.sync.Unlock()
	if !mine.done {
		w.write.Lock()
		w.next = new(round)
		w.write.Unlock()
		mine.done, mine.err = true, w.file.Sync()
	}
	return mine.err
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
