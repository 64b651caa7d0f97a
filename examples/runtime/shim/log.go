package shim

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxLogLine is what one line of a CRI log holds; a longer one is split into partial lines.
const maxLogLine = 16 << 10 // 16 KiB

// criLog writes the CRI log format: time, stream, F for a full line or P for a part, text. Errors of the disk are
// swallowed: a full disk must not stop the container.
type criLog struct {
	path string
	now  func() time.Time

	mu sync.Mutex
	f  *os.File // nil when there is no log
}

func openLog(path string) (*criLog, error) {
	l := &criLog{path: path, now: time.Now}
	if path == "" {
		return l, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return l, l.reopen()
}

// reopen opens the path again, after somebody has moved the file away.
func (l *criLog) reopen() error {
	if l.path == "" {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		l.f.Close()
	}
	l.f = f
	return nil
}

func (l *criLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		l.f.Close()
		l.f = nil
	}
}

func (l *criLog) write(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_, _ = l.f.Write(b)
	}
}

// stream cuts one stream into lines for the log.
type stream struct {
	log     *criLog
	name    string
	pending []byte // an unfinished line
}

// Write takes any part of the stream; it never fails.
func (s *stream) Write(p []byte) (int, error) {
	n, stamp := len(p), s.log.now().Format(time.RFC3339Nano)
	var out bytes.Buffer
	for len(p) > 0 {
		line, rest, full := bytes.Cut(p, []byte{'\n'})
		s.pending = append(s.pending, line...)
		for len(s.pending) > maxLogLine {
			s.entry(&out, stamp, "P", s.pending[:maxLogLine])
			s.pending = s.pending[maxLogLine:]
		}
		if full {
			s.entry(&out, stamp, "F", s.pending)
			s.pending = s.pending[:0]
		}
		p = rest
	}
	if out.Len() > 0 {
		s.log.write(out.Bytes())
	}
	return n, nil
}

// flush writes what the stream ended with, if that was not a whole line.
func (s *stream) flush() {
	if len(s.pending) == 0 {
		return
	}
	var out bytes.Buffer
	s.entry(&out, s.log.now().Format(time.RFC3339Nano), "P", s.pending)
	s.log.write(out.Bytes())
}

func (s *stream) entry(out *bytes.Buffer, stamp, tag string, line []byte) {
	out.WriteString(stamp + " " + s.name + " " + tag + " ")
	out.Write(line)
	out.WriteByte('\n')
}
