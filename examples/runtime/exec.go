package runtime

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
	"github.com/lanyard-dev/lanyard/examples/runtime/pipe"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// call is one Exec as the stream finds it.
type call struct {
	cmd     []string
	environ []string // NAME=VALUE, of the request
	tty     bool
}

// exec prepares an exec session and returns the URL at which it starts. The environment of the request travels there
// inside of the container ID. What no process could be given is refused here, where the kubelet sees why.
func (s *Server) exec(req *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	c, err := s.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	if !s.injects(s.handlerOf(c)) {
		req = knownFields(req)
	}
	packed, err := streaming.Pack(req)
	if err != nil {
		return nil, err
	}
	return s.streams.GetExec(packed)
}

// knownFields is what a runtime sees whose cri-api has no ExecRequest.envs.
func knownFields(req *runtimeapi.ExecRequest) *runtimeapi.ExecRequest {
	return &runtimeapi.ExecRequest{
		ContainerId: req.GetContainerId(), Cmd: req.GetCmd(), Tty: req.GetTty(),
		Stdin: req.GetStdin(), Stdout: req.GetStdout(), Stderr: req.GetStderr(),
	}
}

// stdio is what the client of a stream sees.
type stdio struct {
	in       io.Reader
	out, err io.WriteCloser
	resize   <-chan remotecommand.TerminalSize
}

// execInContainer runs an exec session to its end: mark, journal, process, streams, journal.
func (s *Server) execInContainer(ctx context.Context, packedID string, what call, client stdio) error {
	containerID, environ, err := streaming.Unpack(packedID)
	if err != nil {
		return err
	}
	what.environ = environ
	c, err := s.running(containerID)
	if err != nil {
		return err
	}
	spec, err := s.execSpec(c, what.cmd, what.environ, what.tty)
	if err != nil {
		return err
	}
	session := s.journalSession(c, auditID(what.environ))
	conn, mark, err := c.mark(loginUID(session.ExecID))
	if err != nil {
		return err
	}
	defer conn.Close()
	entry, err := s.intend(c, session, what, mark)
	if err != nil {
		// Nothing runs that is not on record.
		return err
	}
	code, err := s.runSession(ctx, conn, c, spec, client, entry)
	if err == nil && code != 0 {
		err = &utilexec.CodeExitError{Err: errors.New("process failed"), Code: code}
	}
	return err
}

// runSession starts the process and carries its streams until it has ended and its output is delivered. The journal has
// the end before the output, for which a client may take its time, is through.
func (s *Server) runSession(ctx context.Context, conn *monitor.Conn, c *container, spec specs.Process, client stdio, entry *journalEntry) (code int, err error) {
	streams, err := s.openStreams(spec.Terminal, client)
	if err != nil {
		entry.end(monitor.Exited{}, err)
		return 0, err
	}
	defer streams.close()
	exited, err := streams.runProcess(ctx, conn, c, spec, client, entry)
	entry.end(exited, err)
	streams.finish(ctx)
	return exited.Code, err
}

// runProcess starts the process, begins to carry its streams, and waits for its end.
func (st *execStreams) runProcess(ctx context.Context, conn *monitor.Conn, c *container, spec specs.Process, client stdio, entry *journalEntry) (exited monitor.Exited, err error) {
	p, err := c.start(conn, spec, entry.name(), st.console, st.theirs)
	if err != nil {
		return exited, err
	}
	entry.started(p.started)
	if err := st.run(ctx, client); err != nil {
		return exited, errors.Join(err, p.conn.Close())
	}
	return p.wait(ctx)
}

// execStreams are the standard streams of one session.
type execStreams struct {
	console *monitor.Console // nil without terminal
	theirs  [3]*os.File      // the process's side
	ours    [3]*os.File      // this side; with a terminal, all are it
	readers []*pipe.Reader
	copied  sync.WaitGroup
}

func (s *Server) openStreams(tty bool, client stdio) (st *execStreams, err error) {
	st = &execStreams{}
	for i := range st.theirs {
		if st.theirs[i], err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
			st.close()
			return nil, err
		}
	}
	if tty {
		st.console, err = monitor.ListenConsole(s.path("tmp"))
	} else {
		err = st.openPipes(client)
	}
	if err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

func (st *execStreams) openPipes(client stdio) error {
	wanted := [3]bool{client.in != nil, client.out != nil, client.err != nil}
	for i, want := range wanted {
		if !want {
			continue
		}
		st.theirs[i].Close()
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		if st.theirs[i], st.ours[i] = w, r; i == 0 {
			st.theirs[i], st.ours[i] = r, w
		}
	}
	return nil
}

// run begins to carry, once the process runs.
func (st *execStreams) run(ctx context.Context, client stdio) error {
	// The end of a pipe shows only when nobody else holds the other side.
	closeFiles(st.theirs[:])
	if st.console != nil {
		tty, err := st.console.Terminal()
		if err != nil {
			return err
		}
		st.ours = [3]*os.File{tty, tty, nil}
		if client.out == nil {
			// Somebody has to read a terminal, or its user blocks.
			client.out = discard{}
		}
		go followResize(ctx, tty, client.resize)
	}
	st.carryIn(client.in)
	st.carryOut(client.out, st.ours[1])
	st.carryOut(client.err, st.ours[2])
	return nil
}

func (st *execStreams) carryIn(from io.Reader) {
	to := st.ours[0]
	if from == nil || to == nil {
		return
	}
	go func() {
		// It ends with the client's input, with the process, or with the connection: the reader is closed with that.
		_, _ = io.Copy(to, from)
		if st.console == nil {
			to.Close()
		}
	}()
}

func (st *execStreams) carryOut(to io.WriteCloser, from *os.File) {
	if to == nil || from == nil {
		return
	}
	r := pipe.NewReader(from, st.console != nil)
	st.readers = append(st.readers, r)
	st.copied.Add(1)
	go func() {
		defer st.copied.Done()
		if _, err := io.Copy(to, r); err != nil {
			// A client that takes no more output must not block the process: let it have a broken pipe.
			from.Close()
		}
		to.Close()
	}()
}

// finish waits until the output that the process left is delivered, or the client is gone.
func (st *execStreams) finish(ctx context.Context) {
	for _, r := range st.readers {
		r.Finish()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		st.copied.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (st *execStreams) close() {
	closeFiles(st.theirs[:])
	closeFiles(st.ours[:])
	if st.console != nil {
		st.console.Close()
	}
}

// discard is an output that nobody asked for.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
