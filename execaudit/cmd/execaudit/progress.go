package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// progress shows on a terminal how much was read.
type progress struct {
	w     io.Writer
	bytes atomic.Int64
	stop  chan struct{}
	ended chan struct{}
}

// newProgress returns one that stays silent when w is not a terminal.
func newProgress(w io.Writer) *progress {
	p := &progress{w: w, stop: make(chan struct{}), ended: make(chan struct{})}
	if !isTerminal(w) {
		close(p.ended)
		return p
	}
	go p.show()
	return p
}

func (p *progress) add(n int) {
	p.bytes.Add(int64(n))
}

func (p *progress) show() {
	defer close(p.ended)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for {
		select {
		case <-tick.C:
			done := float64(p.bytes.Load()) / 1e6
			fmt.Fprintf(p.w, "\r%.0f MB read, %.0f MB/s ", done, done/time.Since(begin).Seconds())
		case <-p.stop:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		}
	}
}

func (p *progress) done() {
	close(p.stop)
	<-p.ended
}

// isTerminal reports whether a person sees what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
