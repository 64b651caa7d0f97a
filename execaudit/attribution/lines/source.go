package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// MaxLineBytes is the longest line that is decoded, its end not counted; a longer one is a fault.
const MaxLineBytes = 4 << 20 // 4 MiB

// Fault is a line that could not be used, or a file of which nothing could. It repeats nothing of the line.
type Fault struct {
	// File is the file's name as given; Line counts from 1, and is 0 for the file as a whole.
	File string
	Line int
	// Err is what the decoder returned, or ErrTooLong; ErrNothingUsed for the file.
	Err error
}

// Error returns "FILE:LINE: what is wrong", or "FILE: what is wrong".
func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %v", f.File, f.Err)
	}
	return fmt.Sprintf("%s:%d: %v", f.File, f.Line, f.Err)
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error {
	return f.Err
}

// ErrTooLong is in the Fault of a line over MaxLineBytes.
var ErrTooLong = fmt.Errorf("line over %d bytes", MaxLineBytes)

// Opener opens a file. Its name is for faults.
type Opener struct {
	Name string
	Open func() (io.ReadCloser, error)
	// Again says that Open can be called again and begins anew, as that of a regular file: then join.Files looks into it
	// first, and opens it when its time has come. Others it opens at once.
	Again bool
}

// Source is files of one kind. Read takes them one after the other; join.Files in the order of their times.
type Source struct {
	Files []Opener
	// Decode reads every file's lines; nil means to detect each file's format by its lines.
	Decode attribution.Decoder
	// Node is for agents that do not name their node: all files are of this node then. An event that is left without
	// one is a fault.
	Node string
	// Progress is called with the number of bytes read (compressed, where the file is), by one goroutine at a time; what
	// Begin reads is not counted.
	// If nil, it is not called.
	Progress func(bytes int)
	// Workers decode; 0 means 2.
	Workers int
	// Live asks for what there is at once, instead of full chunks, for input that grows.
	Live bool
}

// Batch is what a part of a source told, in the order of its lines. Release it to have its memory used again.
type Batch struct {
	attribution.Batch
	// At is, where the part told nothing, the time of its last line: how far reading has come. The zero time where that has
	// none.
	At time.Time
	// Faults are the lines of this part that could not be used.
	Faults []*Fault
	// Err ends a file before its end: it could not be opened or read. It names the file. The next file follows.
	Err error
	// Ended says in a file's last batch what became of the whole file, also when Err does; nil in the others.
	Ended *Tally

	used    int // lines
	release func(*Batch)
}

// Release gives the batch back. Text in it stays valid. It does nothing for a batch that the caller made.
func (b *Batch) Release() {
	if b.release != nil {
		b.release(b)
	}
}

// Read starts reading and returns the batches in order; the channel is closed after the last, or when ctx is done. A
// caller that stops early cancels ctx.
func (s *Source) Read(ctx context.Context) <-chan *Batch {
	return newReading(ctx, s).out
}

// chunk is some whole lines of one file.
type chunk struct {
	file   string
	first  int // number of the first line
	data   []byte
	decode attribution.Decoder
	long   bool // stands for one line that is too long
	err    error
	last   bool // ends the file
	result chan *Batch
}

// unzipped returns r, or what it unpacks to when it is gzip. Several members, as appended by rotation tools, are one
// text.
func unzipped(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	magic, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return gzip.NewReader(b)
	}
	return b, nil
}
