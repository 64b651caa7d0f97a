package shim

import (
	"errors"
	"net"
	"os"
	"sync"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// container is the one container of this monitor.
type container struct {
	dir     string
	spec    monitor.Spec
	spawner spawner
	stdio   *stdio
	started monitor.Started
	init    detached
	socket  *net.UnixListener

	sessions sync.WaitGroup
	starters starters
	ended    chan struct{} // closed when exited is set
	exited   monitor.Exited
}

// start starts the container that dir describes and listens for requests about it.
func start(dir string) (*container, error) {
	spec, err := monitor.ReadSpec(dir)
	if err != nil {
		return nil, err
	}
	reaper, err := newReaper()
	if err != nil {
		return nil, err
	}
	c := &container{dir: dir, spec: spec, spawner: spawner{dir, spec, reaper}, ended: make(chan struct{})}
	if c.socket, err = monitor.Listen(dir); err != nil {
		return nil, err
	}
	if err := c.launch(); err != nil {
		c.delete()
		return nil, err
	}
	c.started = monitor.Started{Pid: c.init.pid, StartTime: c.init.startTime, At: c.init.seen}
	if err := monitor.WriteStarted(dir, c.started); err != nil {
		c.delete()
		return nil, err
	}
	go c.serve()
	return c, nil
}

// launch runs the low-level runtime with the container's side of the streams.
func (c *container) launch() error {
	ours, theirs, err := newStdio(c.spec)
	if err != nil {
		return err
	}
	defer closeAll(theirs)
	c.stdio = ours
	args := []string{"--bundle", c.spec.Bundle, c.spec.ID}
	if !c.spec.Terminal {
		c.init, err = c.spawner.detach(theirs, c.spec.RawEnv, "run", args...)
		if err == nil {
			ours.start(c.spec, nil)
		}
		return err
	}
	console, err := monitor.ListenConsole(c.dir)
	if err != nil {
		return err
	}
	defer console.Close()
	c.init, err = c.spawner.detach(theirs, c.spec.RawEnv, "run", append([]string{"--console-socket", console.Path()}, args...)...)
	if err != nil {
		return err
	}
	tty, err := console.Terminal()
	if err == nil {
		ours.start(c.spec, tty)
	}
	return err
}

// waitEnd waits for the container, then for its output, writes down how it ended and removes what the low-level runtime
// keeps, so that processes which outlived the first one (in the host's pid namespace) end too.
func (c *container) waitEnd() error {
	e := <-c.init.exit
	c.exited = monitor.Exited{Code: e.code, At: e.seen}
	c.delete()
	c.stdio.drain()
	err := monitor.WriteExited(c.dir, c.exited)
	close(c.ended)
	err = errors.Join(err, c.socket.Close())
	// Execs ended with the container; whoever waits for it is still to be told.
	c.sessions.Wait()
	return err
}

// delete removes the container from the low-level runtime, with force: also its last processes and its cgroups.
func (c *container) delete() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	_, _ = c.spawner.run([]*os.File{null, null, null}, "--root", c.spec.RuncRoot, "delete", "--force", c.spec.ID)
}

func fds(files []*os.File) []uintptr {
	out := make([]uintptr, len(files))
	for i, f := range files {
		out[i] = f.Fd()
	}
	return out
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
