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

// Errors of Open and Append.
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
// arrive while one is being synced share the next sync.
type Writer struct {
	file File

	collect sync.Mutex // guards next
	next    *batch

	write sync.Mutex // held by the one who writes; guards torn
	torn  bool       // the last line may lack its newline
}

// batch is the lines that go to disk together. lines is guarded by collect
// until the batch is taken, written and err by write.
type batch struct {
	lines   []byte
	written bool
	err     error
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
	return &Writer{file: file, next: new(batch)}
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
	line, err := encode(r)
	if err != nil {
		return err
	}
	mine := w.enqueue(line)
	w.write.Lock()
	defer w.write.Unlock()
	if !mine.written {
		w.take()
		w.flush(mine)
	}
	return mine.err
}

// Close closes the file. Append must not be in progress.
func (w *Writer) Close() error {
	return w.file.Close()
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

func (w *Writer) enqueue(line []byte) *batch {
	w.collect.Lock()
	defer w.collect.Unlock()
	w.next.lines = append(w.next.lines, line...)
	return w.next
}

// take ends the collecting of the next batch, which is the caller's own: an
// earlier one would have been written by now.
func (w *Writer) take() {
	w.collect.Lock()
	defer w.collect.Unlock()
	w.next = new(batch)
}

func (w *Writer) flush(b *batch) {
	if w.torn {
		b.lines = append([]byte{'\n'}, b.lines...)
	}
	_, err := w.file.Write(b.lines)
	w.torn = err != nil
	if err == nil {
		err = w.file.Sync()
	}
	b.lines, b.written, b.err = nil, true, err
}
