package pluginexec

import (
	"io"
	"os"
	"time"
)

// pipe carries a process's standard output to a writer. It is os/exec's own way but for the end: when a grandchild
// keeps the pipe open, os/exec closes it after a while even if the reader has not had its turn, and loses what was
// written.
type pipe struct {
	reader, writer *os.File
	into           io.Writer
	done           chan struct{}
	err            error // why the reader ended; nil at the end of file. Set before done is closed
}

func newPipe(into io.Writer) (*pipe, error) {
	r, w, err := os.Pipe()
	return &pipe{reader: r, writer: w, into: into, done: make(chan struct{})}, err
}

// start begins to read. The process has the writer now.
func (p *pipe) start() {
	_ = p.writer.Close()
	go func() {
		defer close(p.done)
		_, p.err = io.Copy(p.into, p.reader)
	}()
}

// finish returns once everything is read that the process had written before it ended; what a grandchild writes is
// waited for no longer than wait.
func (p *pipe) finish(wait time.Duration) {
	defer p.reader.Close()
	select {
	case <-p.done: // as a rule; the timer of a deadline would wake a thread for nothing
	default:
		p.await(wait)
	}
	if p.err != nil {
		drain(p.into, p.reader)
	}
}

// await returns once the reader has come to the end, or after wait.
func (p *pipe) await(wait time.Duration) {
	if p.reader.SetReadDeadline(time.Now().Add(wait)) == nil {
		<-p.done
		return
	}
	select {
	case <-p.done:
	case <-time.After(wait):
		_ = p.reader.Close()
		<-p.done
	}
}

// abandon closes a pipe that no process got.
func (p *pipe) abandon() {
	_ = p.writer.Close()
	_ = p.reader.Close()
}
