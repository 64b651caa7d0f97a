package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Reader reads a journal, line by line, in memory bounded by MaxLineBytes. It is
// for one goroutine.
type Reader struct {
	name    string
	lines   *bufio.Reader
	line    int
	decoder Decoder
}

// NewReader returns a Reader of r. name is for errors, usually the file's.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{name: name, lines: bufio.NewReaderSize(r, 64<<10)}
}

// Records returns the journal's records in its order, as a Decoder reads them, up to
// the end of what NewReader was given. A pair with an error has the zero Record:
//
//   - *LineError for a line that is not a record; the next pair is of what follows it
//   - whatever NewReader's r returns, but io.EOF, as the last pair
//
// Empty lines are skipped, and so are the marks and seals of a journal, which Verify reads. To iterate again is to go
// on where the last iteration ended.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			line, err := r.readLine()
			switch {
			case err == io.EOF:
				return
			case err != nil && !errors.Is(err, ErrLineTooLong):
				yield(Record{}, err)
				return
			case err == nil && len(line) == 0:
				continue
			}
			var record Record
			if err == nil {
				err = r.decoder.Decode(line, &record)
			}
			if err != nil && isMark(line, err) {
				continue
			}
			if err != nil {
				err = &LineError{Name: r.name, Line: r.line, Err: err}
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// isMark reports whether a line that is not a record is a whole one of a kind of this package's own.
func isMark(line []byte, err error) bool {
	var fault *Fault
	return (isSeal(line) || isFileMark(line)) && errors.As(err, &fault) && fault.Field == "kind"
}

// readLine returns a line without its end, good until the next call. A last line without newline is a line.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	part, err := r.lines.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		part, err = r.readLong(part)
	}
	switch {
	case err == io.EOF && len(part) > 0, err == nil:
		return checkedLine(part)
	}
	return nil, err
}

// readLong reads the rest of a line that begins with part.
func (r *Reader) readLong(part []byte) ([]byte, error) {
	line := bytes.Clone(part)
	for {
		part, err := r.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err != bufio.ErrBufferFull:
			return line, err
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
