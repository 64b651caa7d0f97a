package top

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
)

// help is the last line.
const help = "q quit   s sort by %s   j k scroll"

// watcher is the live view.
type watcher struct {
	ask      func(context.Context) (board.Snapshot, error)
	users    *users
	interval time.Duration
	order    Order

	layout Layout
	last   board.Snapshot
	fault  string
}

// watch draws until q is typed or the context ends, and leaves the terminal as it was.
func (w *watcher) watch(ctx context.Context, in, out *os.File) (err error) {
	s, err := openScreen(in, out)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer func() {
		stop()
		reader.Wait()
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	typed := make(chan byte)
	reader.Go(func() { s.keys(ctx, typed) })
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	w.refresh(ctx)
	for {
		if err := s.show(w.lines(sizeOf(out))); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case key, open := <-typed:
			if !open || !w.key(key) {
				return nil
			}
		case <-resized:
		case <-tick.C:
			w.refresh(ctx)
		}
	}
}

// refresh asks the agent. What was known last stays when it does not answer.
func (w *watcher) refresh(ctx context.Context) {
	w.fault = ""
	snapshot, err := w.ask(ctx)
	if err == nil {
		w.last = snapshot
		err = w.users.refresh()
	}
	if err != nil {
		w.fault = err.Error()
	}
}

// key does what a key asks for, and reports whether to go on.
func (w *watcher) key(key byte) bool {
	switch key {
	case 'q', 'Q':
		return false
	case 's':
		w.order = orders[(slices.Index(orders, w.order)+1)%len(orders)]
	case 'j', 'B': // B ends the sequence of the key that has an arrow down
		w.layout.From = min(w.layout.From+1, max(len(w.last.Sessions)-1, 0))
	case 'k', 'A':
		w.layout.From = max(w.layout.From-1, 0)
	}
	return true
}

// lines are those of the view, the help at the end.
func (w *watcher) lines(width, height int) []string {
	if width == 0 || height == 0 {
		width, height = defaultWidth, defaultHeight
	}
	l := w.layout
	l.Width, l.Height, l.Order, l.Users = width, height-1, w.order, w.users.names
	var lines []string
	if w.fault != "" {
		l.Height--
		lines = append(lines, fit("! "+w.fault, width))
	}
	if l.Height > 0 {
		lines = append(lines, Draw(w.last, l)...)
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	return append(lines, fit(helpLine(w.order), width))
}
