package supgroups

import (
	"bytes"
	"io"
)

const (
	// MaxRowHead is how many bytes the name, password and IDs of a row may take together. What follows them, a list of
	// members for example, may have any length.
	MaxRowHead = 4 << 10 // 4 KiB

	// blockBytes is what is held of a file at a time: large enough that most rows are seen whole, small enough to stay in
	// the first-level cache.
	blockBytes = 16 << 10 // 16 KiB
)

// table takes the rows of one file in order.
type table interface {
	// rows takes whole rows, each ending in a newline except perhaps the file's last; line is the number of the first. It
	// returns how many it took and whether it wants no more.
	rows(block []byte, line int) (n int, done bool)
	// open takes the first bytes, at least MaxRowHead of them, of a row that is longer than a block.
	open(start []byte, line int) (done bool)
	// extend takes the next bytes of the open row.
	extend(part []byte)
	// close ends the open row.
	close() (done bool)
}

// feed streams r through t, holding one block at a time.
func feed(r io.Reader, buf []byte, t table) error {
	f := feeder{r: r, buf: buf, line: 1}
	for {
		err := f.fill()
		// After a failed read the last row may be cut short, and half an ID is another ID: only the end of the file ends a row.
		last := err == io.EOF
		if f.take(t, last) || last {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

type feeder struct {
	r    io.Reader
	buf  []byte
	n    int // bytes of buf in use
	line int
	long bool // a row longer than buf is open
}

// fill reads until the block is full or the reader ends.
func (f *feeder) fill() error {
	for empty := 0; f.n < len(f.buf); {
		n, err := f.r.Read(f.buf[f.n:])
		f.n += n
		if err != nil {
			return err
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return io.ErrNoProgress
		}
	}
	return nil
}

// maxEmptyReads is how often a reader may return nothing in a row before it is given up.
const maxEmptyReads = 100

// take hands the block to t and keeps what is not yet a whole row.
func (f *feeder) take(t table, last bool) (done bool) {
	rest := f.buf[:f.n]
	if f.long {
		if rest, done = f.finish(t, rest, last); done {
			return true
		}
	}
	if f.long {
		f.n = 0
		return false
	}
	whole := bytes.LastIndexByte(rest, '\n') + 1
	if last {
		whole = len(rest)
	}
	if whole > 0 {
		n, done := t.rows(rest[:whole], f.line)
		if done {
			return true
		}
		f.line += n
	}
	rest = rest[whole:]
	if len(rest) == len(f.buf) {
		f.long = true
		f.n = 0
		return t.open(rest, f.line)
	}
	f.n = copy(f.buf, rest)
	return false
}

// finish hands t more of the open row, up to its end where that is in sight, and returns what follows it.
func (f *feeder) finish(t table, b []byte, last bool) (rest []byte, done bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		t.extend(b)
		if !last {
			return nil, false
		}
		f.long = false
		return nil, t.close()
	}
	t.extend(b[:i])
	f.long = false
	f.line++
	return b[i+1:], t.close()
}
