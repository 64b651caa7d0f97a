package webhook

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// watched is a value that is read from files, and again when their content changes: a mounted Secret changes by a
// symbolic link, which leaves times and numbers of files as unreliable signs.
type watched[T any] struct {
	names []string
	parse func(files [][]byte) (T, error)

	mu    sync.Mutex
	files [][]byte
	value atomic.Pointer[T]
}

// watch reads the files for the first time.
func watch[T any](parse func([][]byte) (T, error), names ...string) (*watched[T], error) {
	w := &watched[T]{names: names, parse: parse}
	if _, err := w.renew(); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *watched[T]) get() T { return *w.value.Load() }

// renew reads the files again and reports whether they changed. An error leaves the value as it was, and the next call
// tries again.
func (w *watched[T]) renew() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	files := make([][]byte, len(w.names))
	same := w.files != nil
	for i, name := range w.names {
		data, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		files[i] = data
		same = same && bytes.Equal(data, w.files[i])
	}
	if same {
		return false, nil
	}
	value, err := w.parse(files)
	if err != nil {
		return false, fmt.Errorf("%s: %w", w.names[0], err)
	}
	w.files = files
	w.value.Store(&value)
	return true, nil
}

// name is the first file's.
func (w *watched[T]) name() string { return w.names[0] }

// renewable is a watched value of any kind.
type renewable interface {
	renew() (bool, error)
	name() string
}
