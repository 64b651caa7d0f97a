package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// processFiles are the OCI processes of exec sessions, in the container's directory while they are started.
const processFiles = "exec-*"

// execProcess is one more process in a container, from the runtime's side.
type execProcess struct {
	conn    *monitor.Conn
	started monitor.Started
}

// running returns the container if it runs.
func (s *Server) running(id string) (*container, error) {
	c, err := s.container(id)
	if err != nil {
		return nil, err
	}
	if state, _, _ := c.state(); state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q does not run", id)
	}
	return c, nil
}

// execSpec is the container's own process with another command, environment and terminal: the same user, groups,
// capabilities and working directory.
func (s *Server) execSpec(c *container, cmd, request []string, tty bool) (specs.Process, error) {
	p := *c.record.Process
	env, err := c.env.merge(request, tty)
	if err != nil {
		return p, err
	}
	p.Args, p.Env, p.Terminal, p.ConsoleSize = cmd, env, tty, nil
	if s.config.ExecProcess != nil {
		s.config.ExecProcess(&p)
	}
	return p, nil
}

// mark has the container's monitor mark the process that will be started through the connection, and returns the mark:
// a zero one where the kernel gives none, or the monitor is of a runtime that knew none.
func (c *container) mark(loginUID uint32) (*monitor.Conn, monitor.Mark, error) {
	conn, err := monitor.Dial(c.dir)
	if err != nil {
		return nil, monitor.Mark{}, err
	}
	reply, err := ask(conn, monitor.Request{Op: monitor.OpMark, LoginUID: loginUID})
	if err == nil && reply.Mark != nil {
		return conn, *reply.Mark, nil
	}
	if err = errors.Join(err, conn.Close()); err == nil {
		conn, err = monitor.Dial(c.dir)
	}
	return conn, monitor.Mark{}, err
}

// start has the container's monitor start the process with these three standard streams, or with the terminal that
// comes through console, and keep it under the session's name unless that is empty. The process lives until it ends,
// wait's context ends, the connection does, or this runtime.
func (c *container) start(conn *monitor.Conn, p specs.Process, session string, console *monitor.Console, streams [3]*os.File) (*execProcess, error) {
	name := "exec-" + newID()
	file, env := filepath.Join(c.dir, name+".json"), name+".env"
	defer os.Remove(file)
	defer os.Remove(filepath.Join(c.dir, env))
	if err := c.writeRaw(&p, env); err != nil {
		return nil, err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return nil, err
	}
	req := monitor.Request{Op: monitor.OpExec, Process: file, RawEnv: c.raw(env), Session: session}
	if console != nil {
		req.Console = console.Path()
	}
	reply, err := ask(conn, req, streams[:]...)
	if err == nil && reply.Started == nil {
		err = errors.New(reply.Error)
	}
	if err != nil {
		return nil, err
	}
	return &execProcess{conn, *reply.Started}, nil
}

// wait returns how the process ended. When ctx ends first, the process is killed and the error is ctx's cause.
func (p *execProcess) wait(ctx context.Context) (exited monitor.Exited, err error) {
	// Its monitor kills it when the connection ends.
	defer context.AfterFunc(ctx, func() { p.conn.Close() })()
	var reply monitor.Reply
	_, err = p.conn.Receive(&reply)
	switch {
	case reply.Exited != nil:
		return *reply.Exited, nil
	case ctx.Err() != nil:
		return exited, context.Cause(ctx)
	}
	return exited, fmt.Errorf("container monitor is gone: %w", err)
}

// ask sends a request and returns the first answer.
func ask(conn *monitor.Conn, req monitor.Request, files ...*os.File) (reply monitor.Reply, err error) {
	if err := conn.Send(req, files...); err != nil {
		return reply, err
	}
	_, err = conn.Receive(&reply)
	return reply, err
}
