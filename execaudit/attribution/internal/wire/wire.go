// Package wire writes and reads values one after the other, with a sum at the end that shows whether anything is missing
// or was changed.
package wire

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"math"
	"strings"
	"time"
)

// Writer writes values. Its first error stays.
type Writer struct {
	w    *bufio.Writer
	sum  hash.Hash
	room [binary.MaxVarintLen64]byte
	err  error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	sum := sha256.New()
	return &Writer{w: bufio.NewWriter(io.MultiWriter(w, sum)), sum: sum}
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

// Uint writes a number.
func (w *Writer) Uint(n uint64) {
	w.write(binary.AppendUvarint(w.room[:0], n))
}

// Int writes a number with its sign.
func (w *Writer) Int(n int64) {
	w.write(binary.AppendVarint(w.room[:0], n))
}

// Bool writes one byte.
func (w *Writer) Bool(b bool) {
	if b {
		w.Uint(1)
		return
	}
	w.Uint(0)
}

// Text writes a text with its length.
func (w *Writer) Text(text string) {
	w.Uint(uint64(len(text)))
	if w.err == nil {
		_, w.err = w.w.WriteString(text)
	}
}

// Time writes an instant; its zone is lost.
func (w *Writer) Time(t time.Time) {
	w.Int(t.Unix())
	w.Uint(uint64(t.Nanosecond()))
}

// Close writes the sum and returns the first error.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	w.write(w.sum.Sum(nil))
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// ErrCorrupt is what a Reader has after something that no Writer writes.
var ErrCorrupt = errors.New("cut off or changed")

// Reader reads what a Writer wrote, in the same order. After its first error, which stays, everything is zero.
type Reader struct {
	r    *bufio.Reader
	sum  hash.Hash
	read []byte // not in sum yet
	err  error
}

// NewReader returns a Reader of r. It may read beyond the sum.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReader(r), sum: sha256.New()}
}

// Err returns the first error: ErrCorrupt, or what the source returned.
func (r *Reader) Err() error {
	return r.err
}

// Fail has the Reader fail, with ErrCorrupt, if it has not.
func (r *Reader) Fail() {
	r.fail(ErrCorrupt)
}

func (r *Reader) fail(err error) {
	if r.err != nil {
		return
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrCorrupt
	}
	r.err = err
}

// ReadByte is for package binary.
func (r *Reader) ReadByte() (byte, error) {
	b, err := r.r.ReadByte()
	if err != nil {
		r.fail(err)
		return 0, err
	}
	r.read = append(r.read, b)
	if len(r.read) >= summedAtOnce {
		r.add()
	}
	return b, nil
}

const summedAtOnce = 4 << 10 // 4 KiB

func (r *Reader) add() {
	r.sum.Write(r.read)
	r.read = r.read[:0]
}

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r)
	if err != nil {
		r.Fail() // too long, where it is not the source's error
		return 0
	}
	return n
}

// Int reads a number with its sign.
func (r *Reader) Int() int64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadVarint(r)
	if err != nil {
		r.Fail() // as above
		return 0
	}
	return n
}

// Small reads a number that fits into an int.
func (r *Reader) Small() int {
	n := r.Uint()
	if n > math.MaxInt32 {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bool reads a byte.
func (r *Reader) Bool() bool {
	n := r.Uint()
	if n > 1 {
		r.Fail()
	}
	return n == 1
}

// Text reads a text. It takes no more room than there is text, whatever its length says.
func (r *Reader) Text() string {
	n := r.Small()
	if n == 0 || r.err != nil {
		return ""
	}
	r.add()
	var text strings.Builder
	if _, err := io.CopyN(io.MultiWriter(&text, r.sum), r.r, int64(n)); err != nil {
		r.fail(err)
		return ""
	}
	return text.String()
}

// Time reads an instant, in UTC.
func (r *Reader) Time() time.Time {
	seconds, nano := r.Int(), r.Uint()
	if nano >= 1e9 {
		r.Fail()
		return time.Time{}
	}
	return time.Unix(seconds, int64(nano)).UTC()
}

// Close reads the sum, and returns the first error: ErrCorrupt if the sum is another.
func (r *Reader) Close() error {
	r.add()
	want := r.sum.Sum(nil)
	got := make([]byte, len(want))
	if r.err == nil {
		if _, err := io.ReadFull(r.r, got); err != nil {
			r.fail(err)
		}
	}
	if r.err == nil && string(got) != string(want) {
		r.Fail()
	}
	return r.err
}
