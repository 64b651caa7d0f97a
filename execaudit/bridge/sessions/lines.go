package sessions

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
)

// line is a line that is not empty, without space around it, or why there is none.
type line struct {
	text   []byte // good until the next line
	number int
	err    error
}

// readLines returns the lines of r in memory bounded by limit. One that is longer is a line with a *LineError; an
// error of r is the last line. A last line without its end is a line.
func readLines(r io.Reader, name string, limit int) iter.Seq[line] {
	return func(yield func(line) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var long []byte
		for number := 1; ; number++ {
			text, whole, err := readLine(in, &long, limit)
			out := line{text: bytes.TrimSpace(text), number: number}
			switch {
			case !whole:
				out = line{number: number, err: &LineError{Name: name, Line: number, Err: fmt.Errorf("%w: over %d bytes", ErrLineTooLong, limit)}}
			case err != nil && err != io.EOF:
				out = line{number: number, err: err}
			}
			if (len(out.text) > 0 || out.err != nil) && !yield(out) {
				return
			}
			if err != nil {
				if !whole && err != io.EOF {
					yield(line{number: number, err: err})
				}
				return
			}
		}
	}
}

// readLine returns a line, from the reader's buffer or from long. whole is false where it has more than limit bytes.
func readLine(in *bufio.Reader, long *[]byte, limit int) (text []byte, whole bool, err error) {
	part, err := in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return part, len(part) <= limit, err
	}
	*long = (*long)[:0]
	whole = true
	for {
		if whole = whole && len(*long)+len(part) <= limit; whole {
			*long = append(*long, part...)
		}
		if err != bufio.ErrBufferFull {
			return *long, whole, err
		}
		part, err = in.ReadSlice('\n')
	}
}
