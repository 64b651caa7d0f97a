package shim

import (
	"os"
	"sync"
	"time"
)

// stall is how long one attached client may refuse a chunk before it is let go: a container must not hang for ever
// because a spectator went to sleep.
const stall = 5 * time.Second

// fanout copies a stream to the log and to every attached client.
type fanout struct {
	log *stream

	mu      sync.Mutex
	clients map[*os.File]struct{}
	ended   bool
}

func newFanout(log *stream) *fanout { return &fanout{log: log, clients: map[*os.File]struct{}{}} }

// add takes a client's file; it is closed when the stream ends or the client stalls.
func (f *fanout) add(w *os.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		w.Close()
		return
	}
	f.clients[w] = struct{}{}
}

// drop forgets and closes a client's file. Closing also wakes a write that is stuck in it.
func (f *fanout) drop(w *os.File) {
	w.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clients, w)
}

func (f *fanout) Write(p []byte) (int, error) {
	_, _ = f.log.Write(p)
	for _, w := range f.snapshot() {
		_ = w.SetWriteDeadline(time.Now().Add(stall))
		if _, err := w.Write(p); err != nil {
			f.drop(w)
		}
	}
	return len(p), nil
}

func (f *fanout) snapshot() []*os.File {
	f.mu.Lock()
	defer f.mu.Unlock()
	files := make([]*os.File, 0, len(f.clients))
	for w := range f.clients {
		files = append(files, w)
	}
	return files
}

// end writes the last unfinished line and lets all clients go.
func (f *fanout) end() {
	f.log.flush()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for w := range f.clients {
		w.Close()
	}
	clear(f.clients)
}
