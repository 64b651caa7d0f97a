package pluginexec

import (
	"errors"
	"io"
)

// bounded keeps what is written up to a limit, and calls overflow once when there is more.
type bounded struct {
	data     []byte
	limit    int64
	over     bool
	overflow func()
}

// Write never fails: the process is killed by overflow, and what it writes until then is dropped.
func (b *bounded) Write(p []byte) (int, error) {
	if b.over {
		return len(p), nil
	}
	if int64(len(b.data)+len(p)) > b.limit {
		b.over = true
		b.data = nil
		b.overflow()
		return len(p), nil
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// ReadFrom copies with a small buffer: io.Copy's own is eight times larger than most answers.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) { return pump(b, r) }

// tail keeps the last bytes of a stream.
type tail struct {
	data []byte
}

// Write keeps the last MaxStderr bytes of everything written so far.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if n >= MaxStderr {
		t.data = append(t.data[:0], p[n-MaxStderr:]...)
		return n, nil
	}
	if drop := len(t.data) + n - MaxStderr; drop > 0 {
		t.data = append(t.data[:0], t.data[drop:]...)
	}
	t.data = append(t.data, p...)
	return n, nil
}

// ReadFrom copies with a small buffer, as bounded does.
func (t *tail) ReadFrom(r io.Reader) (int64, error) { return pump(t, r) }

// pump copies from r to a writer that does not fail.
func pump(w io.Writer, r io.Reader) (total int64, err error) {
	buffer := make([]byte, 4<<10) // 4 KiB
	for {
		n, err := r.Read(buffer)
		_, _ = w.Write(buffer[:n])
		total += int64(n)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
