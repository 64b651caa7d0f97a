package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// killWait is how long a container may take to be gone after SIGKILL.
const killWait = 10 * time.Second

// StartContainer starts a created container, once. A container that could not start is exited, with the reason
// "StartError".
func (s *Server) StartContainer(_ context.Context, req *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	c, err := s.container(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	c.op.Lock()
	defer c.op.Unlock()
	if state, _, _ := c.state(); c.removed || state != runtimeapi.ContainerState_CONTAINER_CREATED {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q was started before", c.record.ID)
	}
	if err := s.launch(c); err != nil {
		return nil, status.Errorf(codes.Unknown, "container %q: %v", c.record.ID, err)
	}
	return &runtimeapi.StartContainerResponse{}, nil
}

func (s *Server) launch(c *container) error {
	err := monitor.WriteSpec(c.dir, monitor.Spec{
		ID: c.record.ID, Runc: s.config.Runc, RuncRoot: s.path("runc"), Bundle: c.dir, LogPath: s.logPath(c),
		RawEnv: c.raw(rawEnvFile), Terminal: c.config.GetTty(), Stdin: c.config.GetStdin(), StdinOnce: c.config.GetStdinOnce(),
	})
	if err != nil {
		return err
	}
	reply, err := s.spawnMonitor(c)
	switch {
	case err != nil:
		return errors.Join(err, s.lost(c, err.Error()))
	case reply.Error != "":
		c.setExited(monitor.Exited{Code: 128, At: time.Now(), StartError: reply.Error})
		return errors.New(reply.Error)
	}
	c.setStarted(*reply.Started)
	s.watch(c)
	return nil
}

// spawnMonitor starts the container's monitor and waits for its report. The monitor is in a session of its own and has
// nothing of this process's: it must outlive it.
func (s *Server) spawnMonitor(c *container) (reply monitor.Reply, err error) {
	report, theirs, err := os.Pipe()
	if err != nil {
		return reply, err
	}
	defer report.Close()
	cmd := exec.Command(s.config.Monitor, c.dir)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH")}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		return reply, err
	}
	// It is a child as long as this runtime lives; somebody has to take its exit.
	go func() { _ = cmd.Wait() }()
	if err := json.NewDecoder(report).Decode(&reply); err != nil {
		return reply, fmt.Errorf("container monitor ended without a report: %w", err)
	}
	return reply, nil
}

// watch follows a container's monitor until the container has ended.
func (s *Server) watch(c *container) {
	s.inBackground(func() {
		e, err := waitMonitor(s.background, c.dir)
		switch {
		case s.background.Err() != nil:
		case err != nil:
			if err := s.lost(c, err.Error()); err != nil {
				s.config.Logger.Error("container monitor runs but does not answer", "container", c.record.ID, "err", err)
			}
		default:
			c.setExited(e)
		}
	})
}

// waitMonitor returns how the container ended, from its monitor or from what that wrote before it left.
func waitMonitor(ctx context.Context, dir string) (monitor.Exited, error) {
	conn, err := monitor.Dial(dir)
	if err == nil {
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		var reply monitor.Reply
		if err = conn.Send(monitor.Request{Op: monitor.OpWait}); err == nil {
			_, err = conn.Receive(&reply)
		}
		if reply.Exited != nil {
			return *reply.Exited, nil
		}
	}
	// The monitor writes its last file before it closes its socket.
	phase, readErr := monitor.Read(dir)
	if phase.Exited != nil {
		return *phase.Exited, nil
	}
	return monitor.Exited{}, errors.Join(fmt.Errorf("container monitor is gone: %w", err), readErr)
}

// lost ends a container whose monitor is gone: nobody can say any more what its process does or how it ends. The error
// is [monitor.ErrAlive] if it is not gone.
func (s *Server) lost(c *container, why string) error {
	e, err := monitor.Abandon(c.dir, monitor.Exited{Code: 255, At: time.Now(), Lost: true})
	if errors.Is(err, monitor.ErrAlive) {
		return err
	}
	s.config.Logger.Warn("container lost", "container", c.record.ID, "err", why)
	if err := errors.Join(err, s.deleteFromRunc(c)); err != nil {
		s.config.Logger.Warn("lost container not cleaned up", "container", c.record.ID, "err", err)
	}
	c.setExited(e)
	return nil
}

// StopContainer asks the container to end and, when it has not within the timeout, kills it. It may be called again,
// also for a container that is gone.
func (s *Server) StopContainer(ctx context.Context, req *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	c, err := s.container(req.GetContainerId())
	if status.Code(err) == codes.NotFound {
		return &runtimeapi.StopContainerResponse{}, nil
	}
	return &runtimeapi.StopContainerResponse{}, s.stopContainer(ctx, c, time.Duration(req.GetTimeout())*time.Second)
}

func (s *Server) stopContainer(ctx context.Context, c *container, grace time.Duration) error {
	if state, _, _ := c.state(); state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil
	}
	if grace > 0 {
		if err := s.signal(c, c.record.StopSignal); err != nil {
			return err
		}
		if ended, err := c.waitEnded(ctx, grace); ended || err != nil {
			return err
		}
	}
	if err := s.signal(c, "SIGKILL"); err != nil {
		return err
	}
	ended, err := c.waitEnded(ctx, killWait)
	if !ended && err == nil {
		err = status.Errorf(codes.DeadlineExceeded, "container %q is still there %v after SIGKILL", c.record.ID, killWait)
	}
	return err
}

func (c *container) waitEnded(ctx context.Context, atMost time.Duration) (bool, error) {
	t := time.NewTimer(atMost)
	defer t.Stop()
	select {
	case <-c.ended:
		return true, nil
	case <-t.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// signal sends a signal to the first process. That it has ended meanwhile is not an error.
func (s *Server) signal(c *container, signal string) error {
	err := s.runc("kill", c.record.ID, signal)
	if err == nil {
		return nil
	}
	if ended, _ := c.waitEnded(context.Background(), time.Second); ended {
		return nil
	}
	return err
}

// RemoveContainer removes a container, killing it if it runs. It may be called again.
func (s *Server) RemoveContainer(ctx context.Context, req *runtimeapi.RemoveContainerRequest) (*runtimeapi.RemoveContainerResponse, error) {
	c, err := s.container(req.GetContainerId())
	if status.Code(err) == codes.NotFound {
		return &runtimeapi.RemoveContainerResponse{}, nil
	}
	return &runtimeapi.RemoveContainerResponse{}, s.removeContainer(ctx, c)
}

func (s *Server) removeContainer(ctx context.Context, c *container) error {
	c.op.Lock()
	defer c.op.Unlock()
	if c.removed {
		return nil
	}
	if err := s.stopContainer(ctx, c, 0); err != nil {
		return err
	}
	if err := c.destroy(); err != nil {
		return err
	}
	c.removed = true
	s.forget(c)
	// Layers whose image was removed stayed for this container.
	return s.images.Collect()
}

// deleteFromRunc removes what a monitor would have removed, had it lived.
func (s *Server) deleteFromRunc(c *container) error {
	return s.runc("delete", "--force", c.record.ID)
}

// runc runs the low-level runtime; the error is what it said.
func (s *Server) runc(args ...string) error {
	var said strings.Builder
	cmd := exec.Command(s.config.Runc, append([]string{"--root", s.path("runc")}, args...)...)
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(said.String())
		return fmt.Errorf("runc %s: %w: %s", args[0], err, text[:min(len(text), 1<<10)])
	}
	return nil
}
