package supgroups

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
)

const (
	// maxRowHead is how many bytes the name, password and IDs of a row may take together. What follows them, a list of
	// members for example, may have any length.
	maxRowHead = 1 << 10 // 1 KiB

	// blockBytes is what is held of a file at a time: most rows are seen whole, and a block stays in the first-level
	// cache.
	blockBytes = 4 << 10 // 4 KiB

	// maxEmptyReads is how often in a row a reader may return nothing before it is given up.
	maxEmptyReads = 100
)

// table takes the rows of one file in order. Each method reports whether it wants no more; line counts from 1.
type table interface {
	// rows takes whole rows, each ending in a newline except perhaps the file's last.
	rows(block []byte, line int) (done bool)
	// open takes the first bytes, at least maxRowHead of them, of a row that is longer than a block.
	open(start []byte, line int) (done bool)
	// extend takes the next bytes of the open row.
	extend(part []byte)
	// close ends the open row.
	close() (done bool)
}

// feeder streams one file through a table, holding one block at a time.
type feeder struct {
	buf  []byte
	n    int // bytes of buf in use
	line int
	long bool // a row longer than buf is open
}

func (f *feeder) feed(r io.Reader, t table) error {
	f.n, f.line, f.long = 0, 1, false
	for {
		err := f.fill(r)
		// After a failed read the last row may be cut short, and half an ID is another ID: only the end of the file
		// ends a row.
		last := err == io.EOF
		if f.take(t, last) || last {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fill reads until the block is full or the reader ends.
func (f *feeder) fill(r io.Reader) error {
	for empty := 0; f.n < len(f.buf); {
		n, err := r.Read(f.buf[f.n:])
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

// take hands the block to t and keeps what is not yet a whole row.
func (f *feeder) take(t table, last bool) (done bool) {
	rest := f.buf[:f.n]
	if f.long {
		if rest, done = f.finish(t, rest, last); done || f.long {
			f.n = 0
			return done
		}
	}
	whole := bytes.LastIndexByte(rest, '\n') + 1
	if last {
		whole = len(rest)
	}
	if whole > 0 {
		if t.rows(rest[:whole], f.line) {
			return true
		}
		f.line += bytes.Count(rest[:whole], newline)
	}
	rest = rest[whole:]
	if len(rest) == len(f.buf) {
		f.n, f.long = 0, true
		return t.open(rest, f.line)
	}
	f.n = copy(f.buf, rest)
	return false
}

// finish hands t more of the open row, up to its end where that is in sight, and returns what follows it.
func (f *feeder) finish(t table, b []byte, last bool) (rest []byte, done bool) {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		rest, b = b[i+1:], b[:i]
		f.line++
	}
	t.extend(b)
	if i < 0 && !last {
		return nil, false
	}
	f.long = false
	return rest, t.close()
}

var newline = []byte{'\n'}

// rowAround returns the bounds of the row that holds block[i], without its newline, and where the next row starts. That
// is always after i, also when i is at the newline: a name that is asked for may begin with one.
func rowAround(block []byte, i int) (start, end, next int) {
	start = lastNewline(block[:i]) + 1
	end = bytes.IndexByte(block[i:], '\n')
	if end < 0 {
		return start, len(block), len(block)
	}
	return start, i + end, i + end + 1
}

// lastNewline is bytes.LastIndexByte for a newline, eight bytes at a time instead of one.
func lastNewline(b []byte) int {
	const newlines, low = 0x0a0a0a0a0a0a0a0a, 0x7f7f7f7f7f7f7f7f
	for len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b[len(b)-8:]) ^ newlines
		// The high bit of each byte that is zero, and of no other.
		if zero := ^((w&low + low) | w | low); zero != 0 {
			return len(b) - 8 + (bits.Len64(zero)-1)/8
		}
		b = b[:len(b)-8]
	}
	return bytes.LastIndexByte(b, '\n')
}

// lineAt returns the line number of the row that starts at block[start], the block's first row having number line.
func lineAt(block []byte, start, line int) int {
	return line + bytes.Count(block[:start], newline)
}
