package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// LineError is a line that is not a record. It names no content.
type LineError struct {
	// Name is the journal's name as given to NewReader.
	Name string
	// Line counts from 1.
	Line int
	// Err is ErrNotJSON, ErrLineTooLong or a fault of Record.Validate.
	Err error
}

// ErrNotJSON is in a LineError for a line that is not a JSON object with a
// record's field types, each at most once: among others one that a crash left unfinished.
var ErrNotJSON = errors.New("not a journal record in JSON")

// Error returns "NAME:LINE: what is wrong".
func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *LineError) Unwrap() error {
	return e.Err
}

// Reader reads a journal, line by line, in memory bounded by MaxLineBytes. It is
// for one goroutine.
type Reader struct {
	name  string
	lines *bufio.Reader
	line  int
}

// NewReader returns a Reader of r. name is for errors, usually the file's.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{name: name, lines: bufio.NewReaderSize(r, 64<<10)}
}

// Next returns the next record. Its errors are
//
//   - *LineError for a line that is none; the next call goes on behind it
//   - io.EOF, plain, at the end
//   - whatever r returns
//
// Empty lines are skipped. Fields it does not know are ignored; so are those whose
// key differs from a known one in case.
func (r *Reader) Next() (Record, error) {
	for {
		line, err := r.readLine()
		switch {
		case errors.Is(err, ErrLineTooLong):
			return Record{}, r.lineError(err)
		case err != nil:
			return Record{}, err
		case len(line) > 0:
			return r.decode(line)
		}
	}
}

func (r *Reader) decode(line []byte) (Record, error) {
	var record Record
	if !decodeExact(line, &record) {
		return Record{}, r.lineError(ErrNotJSON) // json's own error repeats content
	}
	if err := record.Validate(); err != nil {
		return Record{}, r.lineError(err)
	}
	return record, nil
}

func (r *Reader) lineError(err error) error {
	return &LineError{Name: r.name, Line: r.line, Err: err}
}

// readLine returns a line without its end. A last line without newline is a line.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	var line []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil, err == io.EOF && len(line) > 0:
			return checkedLine(line)
		case err != bufio.ErrBufferFull:
			return nil, err
		case len(line) > MaxLineBytes:
			return nil, r.skipLine()
		}
	}
}

func checkedLine(line []byte) ([]byte, error) {
	line = bytes.TrimSpace(line)
	if len(line) > MaxLineBytes {
		return nil, errLongLine
	}
	return line, nil
}

var errLongLine = fmt.Errorf("%w: over %d bytes", ErrLineTooLong, MaxLineBytes)

// skipLine reads to the end of a line that is too long.
func (r *Reader) skipLine() error {
	for {
		_, err := r.lines.ReadSlice('\n')
		switch {
		case err == nil, err == io.EOF:
			return errLongLine
		case err != bufio.ErrBufferFull:
			return err
		}
	}
}
