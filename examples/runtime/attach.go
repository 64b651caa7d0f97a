package runtime

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// attachContainer connects the client to the container's own streams, through its monitor, until the container ends or
// the client goes.
func (s *Server) attachContainer(ctx context.Context, containerID string, client stdio) error {
	c, err := s.running(containerID)
	if err != nil {
		return err
	}
	conn, err := monitor.Dial(c.dir)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	req := monitor.Request{Op: monitor.OpAttach, Stdin: client.in != nil, Stdout: client.out != nil, Stderr: client.err != nil}
	var theirs []*os.File
	var copied sync.WaitGroup
	defer copied.Wait()
	for _, open := range []func() (*os.File, error){
		func() (*os.File, error) { return feedFrom(client.in) },
		func() (*os.File, error) { return drainTo(client.out, &copied) },
		func() (*os.File, error) { return drainTo(client.err, &copied) },
	} {
		f, err := open()
		if err != nil {
			closeFiles(theirs)
			return err
		}
		if f != nil {
			theirs = append(theirs, f)
		}
	}
	err = conn.Send(req, theirs...)
	closeFiles(theirs)
	if err != nil {
		return err
	}
	var end monitor.Reply
	_, err = conn.Receive(&end)
	if err == nil && end.Attached {
		// Not before: what a new size has the container say is for the client.
		go resizeContainer(ctx, c.dir, client.resize)
		_, err = conn.Receive(&end)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	if end.Error != "" {
		return errors.New(end.Error)
	}
	return context.Cause(ctx)
}

// feedFrom returns a pipe out of which the client's input comes; nil for no input.
func feedFrom(in io.Reader) (*os.File, error) {
	if in == nil {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		defer w.Close()
		_, _ = io.Copy(w, in)
	}()
	return r, nil
}

// drainTo returns a pipe whose content goes to the client; nil for no output.
func drainTo(out io.WriteCloser, copied *sync.WaitGroup) (*os.File, error) {
	if out == nil {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	copied.Add(1)
	go func() {
		defer copied.Done()
		defer r.Close()
		_, _ = io.Copy(out, r)
	}()
	return w, nil
}

// resizeContainer gives the container's terminal the size of the client's window.
func resizeContainer(ctx context.Context, dir string, sizes <-chan remotecommand.TerminalSize) {
	for size := range nextSize(ctx, sizes) {
		conn, err := monitor.Dial(dir)
		if err != nil {
			return
		}
		_, _ = ask(conn, monitor.Request{Op: monitor.OpResize, Width: size.Width, Height: size.Height})
		conn.Close()
	}
}
