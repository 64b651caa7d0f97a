package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// chunkBytes is how much is read and decoded at once. It fits a core's second-level cache.
const chunkBytes = 256 << 10 // 256 KiB

// reading is one run over a source. Workers take turns at reading a chunk, and each decodes what is still in its core's
// cache; one more goroutine puts the results in order.
type reading struct {
	ctx    context.Context
	source *Source
	turn   sync.Mutex
	next   func() (*chunk, bool) // under turn
	order  chan *chunk
	out    chan *Batch

	buffers sync.Pool
	batches sync.Pool
}

func newReading(ctx context.Context, s *Source) *reading {
	workers := s.Workers
	if workers <= 0 {
		workers = 2
	}
	r := &reading{ctx: ctx, source: s, order: make(chan *chunk, 2*workers), out: make(chan *Batch, 1)}
	r.buffers.New = func() any { b := make([]byte, chunkBytes); return &b }
	r.batches.New = func() any { return &Batch{release: r.recycle} }
	var stop func()
	r.next, stop = iter.Pull(r.chunks)
	var running sync.WaitGroup
	for range workers {
		running.Go(r.work)
	}
	go func() {
		running.Wait()
		stop()
		close(r.order)
	}()
	go r.sort()
	return r
}

func (r *reading) recycle(b *Batch) {
	b.Reset()
	b.At, b.Faults, b.Err, b.Ended, b.used = time.Time{}, b.Faults[:0:0], nil, nil, 0
	r.batches.Put(b)
}

// sort hands out decoded chunks in the order in which they were read.
func (r *reading) sort() {
	defer close(r.out)
	var sum Tally
	for c := range r.order {
		b := <-c.result
		sum.add(b)
		if c.last {
			sum.File = c.file
			b.end(sum)
			sum = Tally{}
		}
		select {
		case r.out <- b:
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *reading) work() {
	for c := r.take(); c != nil; c = r.take() {
		c.result <- r.decode(c)
	}
}

// take reads the next chunk and notes its place; nil when there is none, or the caller has gone.
func (r *reading) take() *chunk {
	r.turn.Lock()
	defer r.turn.Unlock()
	if r.ctx.Err() != nil {
		return nil
	}
	c, ok := r.next()
	if !ok {
		return nil
	}
	c.result = make(chan *Batch, 1)
	select {
	case r.order <- c:
		return c
	case <-r.ctx.Done():
		return nil
	}
}

func (r *reading) decode(c *chunk) *Batch {
	b := r.batches.Get().(*Batch)
	b.Node, b.Err = r.source.Node, c.err
	if c.long {
		b.Faults = append(b.Faults, &Fault{c.file, c.first, ErrTooLong})
	}
	b.lines(c)
	if b.told() == 0 {
		b.At = stamp(lastLine(c.data))
	}
	if cap(c.data) == chunkBytes {
		data := c.data[:chunkBytes]
		r.buffers.Put(&data)
	}
	return b
}

// lastLine returns the last line of data, empty ones at its end not counted.
func lastLine(data []byte) []byte {
	data = bytes.TrimRight(data, "\r\n")
	return data[bytes.LastIndexByte(data, '\n')+1:]
}

func (b *Batch) lines(c *chunk) {
	for data, number := c.data, c.first; len(data) > 0; number++ {
		line, rest := data, []byte(nil)
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			line, rest = data[:end], data[end+1:]
		}
		data = rest
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) == 0 {
			continue
		}
		err := ErrTooLong
		if len(line) <= MaxLineBytes {
			err = b.line(line, c.decode)
		}
		if err != nil {
			b.Faults = append(b.Faults, &Fault{c.file, number, err})
		}
	}
}

// line decodes one and counts what became of it.
func (b *Batch) line(line []byte, decode attribution.Decoder) error {
	told, ignored := b.told(), b.Ignored.Sum()
	if err := decode(line, &b.Batch); err != nil {
		return err
	}
	switch {
	case b.told() > told:
		b.used++
	case b.Ignored.Sum() == ignored:
		b.Ignored.Other++
	}
	return nil
}

func (b *Batch) told() int {
	return len(b.Audits) + len(b.Events) + len(b.Records)
}

// errStopped ends a file of which no more is wanted.
var errStopped = errors.New("stopped")

// chunks yields one file after the other.
func (r *reading) chunks(yield func(*chunk) bool) {
	for _, f := range r.source.Files {
		err := r.file(f, yield)
		if errors.Is(err, errStopped) || !yield(&chunk{file: f.Name, err: named(f.Name, err), last: true}) {
			return
		}
	}
}

// named says which file an error is about, where the error itself does not. It returns nil for nil.
func named(file string, err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

func (r *reading) file(f Opener, yield func(*chunk) bool) error {
	file, err := f.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := unzipped(&counting{file, r.source.Progress})
	if err != nil {
		return err
	}
	c := cutter{reading: r, file: f.Name, text: text, decode: r.source.Decode, yield: yield}
	return c.run()
}

// counting tells how far reading has come.
type counting struct {
	io.Reader
	progress func(int)
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.progress != nil && n > 0 {
		c.progress(n)
	}
	return n, err
}

// cutter cuts one file at line ends.
type cutter struct {
	*reading
	file   string
	text   io.Reader
	decode attribution.Decoder
	yield  func(*chunk) bool
	line   int // lines yielded so far
	rest   []byte
}

func (c *cutter) run() error {
	for {
		data, err := c.fill()
		if len(data) > 0 && !c.cut(data, err != nil) {
			return errStopped
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fill returns what was left over and what was read behind it.
func (c *cutter) fill() ([]byte, error) {
	data := *c.buffers.Get().(*[]byte)
	if len(c.rest) > chunkBytes/2 {
		data = make([]byte, 2*len(c.rest)+chunkBytes)
	}
	n := copy(data, c.rest)
	c.rest = c.rest[:0]
	if c.source.Live {
		m, err := c.text.Read(data[n:])
		return data[:n+m], err
	}
	for n < len(data) {
		m, err := c.text.Read(data[n:])
		n += m
		if err != nil {
			return data[:n], err
		}
	}
	return data[:n], nil
}

// cut yields the whole lines of data and keeps the rest; at the end of a file there is no rest.
func (c *cutter) cut(data []byte, last bool) bool {
	end := len(data)
	if !last {
		end = bytes.LastIndexByte(data, '\n') + 1
	}
	c.rest = append(c.rest, data[end:]...)
	if len(c.rest) > MaxLineBytes {
		return c.skip()
	}
	if end == 0 {
		return true
	}
	data = data[:end]
	first := c.line + 1
	c.line += bytes.Count(data, []byte("\n"))
	return c.yield(&chunk{file: c.file, first: first, data: data, decode: c.decoder(data)})
}

// decoder detects the format once a line shows it.
func (c *cutter) decoder(data []byte) attribution.Decoder {
	if c.decode == nil {
		c.decode = detect(data)
	}
	if c.decode == nil {
		return func([]byte, *attribution.Batch) error { return ErrUnknownFormat }
	}
	return c.decode
}

// skip passes over the rest of a line that is too long.
func (c *cutter) skip() bool {
	c.rest = c.rest[:0]
	buffer := make([]byte, chunkBytes)
	for {
		n, err := c.text.Read(buffer)
		end := bytes.IndexByte(buffer[:n], '\n')
		if end >= 0 {
			c.rest = append(c.rest, buffer[end+1:n]...)
		}
		if end >= 0 || err != nil {
			c.line++
			return c.yield(&chunk{file: c.file, first: c.line, long: true})
		}
	}
}
