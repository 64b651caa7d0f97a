package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"io"
)

// digest is the state of the chain: a hash over every line of the journal up to some place, each byte of it. Each line
// ends in the digest of what stands before it.
type digest [sha256.Size]byte

// How a chained line ends. No string of JSON can contain it, since a quote in one is escaped.
const (
	prevBegin = `,"prev":"`
	prevEnd   = `"}`
	prevBytes = len(prevBegin) + encodedDigestBytes + len(prevEnd)

	encodedDigestBytes = 43
)

var digestEncoding = base64.RawURLEncoding.Strict()

// link returns an object's text with the digest as its last member. It changes line.
func (d *digest) link(line []byte) []byte {
	line = append(line[:len(line)-1], prevBegin...)
	line = digestEncoding.AppendEncode(line, d[:])
	return append(line, prevEnd...)
}

// linked returns the digest that a line ends in, and what stands before it; false for a line that is not chained.
func linked(line []byte) (head []byte, prev digest, ok bool) {
	return member(line, prevBegin, prevEnd)
}

// member takes a digest off the end of a line.
func member(line []byte, begin, end string) (head []byte, value digest, ok bool) {
	at := len(line) - len(begin) - encodedDigestBytes - len(end)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(begin)) || !bytes.HasSuffix(line, []byte(end)) {
		return nil, value, false
	}
	text := line[at+len(begin) : len(line)-len(end)]
	n, err := digestEncoding.Decode(value[:], text)
	return line[:at], value, err == nil && n == len(value)
}

// hasher computes digests without allocating.
type hasher struct {
	hash.Hash
	out []byte
}

func newHasher() *hasher { return &hasher{Hash: sha256.New()} }

// after returns the digest after a line that stands after d.
func (h *hasher) after(d digest, line []byte) digest {
	h.begin(d)
	h.Write(line)
	return h.end()
}

func (h *hasher) begin(d digest) {
	h.Reset()
	h.out = append(h.out[:0], d[:]...)
	h.Write(h.out)
}

func (h *hasher) end() (d digest) {
	h.out = h.Sum(h.out[:0])
	copy(d[:], h.out)
	return d
}

// line is one of a file, for what looks at each.
type line struct {
	text   []byte // without its newline, good until the next; nil if over MaxLineBytes
	before digest // of what stands before it
	after  digest // of what stands before it and itself
	prev   digest // what it says that stands before it
	linked bool   // whether it says so
	closed bool   // by a newline
	number int    // from 1
	offset int64  // in bytes, where it begins
	end    int64  // in bytes, where the next one begins
}

// walk calls see with each line of a file and returns the digest after the last one. It begins with the digest that
// the first line ends in, if that is a file's mark, which stands for the files before, else with base.
func walk(r io.Reader, base digest, see func(*line) error) (digest, error) {
	w := walker{lines: bufio.NewReaderSize(r, 64<<10), hasher: newHasher(), line: line{before: base}}
	for {
		more, err := w.next()
		if !more || err != nil {
			return w.line.before, err
		}
		if err := see(&w.line); err != nil {
			return w.line.after, err
		}
		w.line.before, w.line.offset = w.line.after, w.line.end
	}
}

type walker struct {
	lines  *bufio.Reader
	hasher *hasher
	line   line
	long   []byte // room for lines that do not fit into lines' buffer
}

// next reads a line and reports whether there was one.
func (w *walker) next() (bool, error) {
	l := &w.line
	l.number++
	text, hashed, err := w.read()
	switch {
	case err != nil && err != io.EOF:
		return false, err
	case l.end == l.offset: // not even a newline
		return false, nil
	}
	l.text, l.closed = text, err == nil
	if hashed {
		l.linked, l.after = false, w.hasher.end()
		return true, nil
	}
	_, l.prev, l.linked = linked(text)
	if l.number == 1 && l.linked && isFileMark(text) {
		l.before = l.prev
	}
	l.after = w.hasher.after(l.before, text)
	return true, nil
}

// read returns a line without its newline; one that is too long goes into the hasher instead.
func (w *walker) read() (text []byte, hashed bool, err error) {
	l := &w.line
	for first := true; ; first = false {
		part, err := w.lines.ReadSlice('\n')
		l.end += int64(len(part))
		if err == nil {
			part = part[:len(part)-1]
		}
		switch {
		case hashed:
			w.hasher.Write(part)
		case first && err != bufio.ErrBufferFull:
			text = part
		case len(w.long)+len(part) <= MaxLineBytes || first:
			w.long = append(w.long[:len(text)], part...)
			text = w.long
		default:
			w.hasher.begin(l.before)
			w.hasher.Write(text)
			w.hasher.Write(part)
			text, hashed = nil, true
		}
		if err != bufio.ErrBufferFull {
			return text, hashed, err
		}
	}
}
