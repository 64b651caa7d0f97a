package lines

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
)

// Begin returns a time that is not after what the first file tells first, as far as its first 256 KiB of text show, so
// that it need not be open before that time has come. It is the zero time for a file that has to be read to know:
// one that is not to be opened Again, that cannot be read, or whose beginning has fewer than two lines with a time, of
// which one might be wrong. Lines that are ignored, as audit events of other requests are, count by their own time.
func (s *Source) Begin() time.Time {
	if len(s.Files) == 0 || !s.Files[0].Again {
		return time.Time{}
	}
	data, err := beginning(s.Files[0])
	if err != nil {
		return time.Time{}
	}
	var first earliest
	decode := s.Decode
	if decode == nil {
		decode = detect(data)
	}
	for line := range bytes.Lines(data) {
		first.line(line, s.Node, decode)
	}
	if first.count < 2 {
		return time.Time{}
	}
	return first.time
}

// beginning returns the whole lines at the beginning of a file's text.
func beginning(f Opener) ([]byte, error) {
	file, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := unzipped(file)
	if err != nil {
		return nil, err
	}
	data := make([]byte, chunkBytes)
	n, err := io.ReadFull(text, data)
	if err == nil {
		n = bytes.LastIndexByte(data, '\n') + 1
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}

// earliest is the earliest of some times.
type earliest struct {
	time  time.Time
	count int
	batch attribution.Batch
}

func (e *earliest) note(t time.Time) {
	if t.IsZero() {
		return
	}
	if e.count++; e.count == 1 || t.Before(e.time) {
		e.time = t
	}
}

// line notes the times of what a line tells, or of a line that tells nothing its own.
func (e *earliest) line(line []byte, node string, decode attribution.Decoder) {
	line = bytes.TrimRight(line, "\r\n")
	b := &e.batch
	b.Reset()
	b.Node = node
	if decode == nil || len(line) == 0 || decode(line, b) != nil {
		return
	}
	for i := range b.Audits {
		e.note(b.Audits[i].At)
	}
	for i := range b.Records {
		e.note(b.Records[i].Time)
	}
	for i := range b.Events {
		e.note(b.Events[i].Time)
	}
	if b.Ignored.Sum() > 0 {
		e.note(stamp(line))
	}
}

// stamp returns the time that an audit event, a journal's mark or an alert has at its top level; the zero time for none.
func stamp(line []byte) (t time.Time) {
	c := scan.New(line)
	if !c.Object() {
		return t
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "stageTimestamp", "time":
			return scan.ParseTime(c.Raw())
		}
		c.Skip()
	}
	return t
}
