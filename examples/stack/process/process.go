// Package process runs a component of the stack as a program that can be stopped,
// killed and started again with the same arguments.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is one component. Its methods are for one goroutine at a time, but for
// Alive and PID.
type Process struct {
	name, log string
	path      string
	args      []string
	env       []string
	launch    func(*exec.Cmd) error
	ready     func(context.Context) error

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
}

// Options say what to run.
type Options struct {
	Name string   // for messages
	Path string   // the program
	Args []string // without the program
	Env  []string // further variables, each as NAME=VALUE
	Log  string   // the file that takes what it prints, appended over restarts
	// Launch starts the command where it belongs, such as in a namespace; nil starts it in the caller's.
	Launch func(*exec.Cmd) error
	// Ready returns nil once the component answers; it is asked again and again.
	Ready func(context.Context) error
}

// New returns a component that does not run yet.
func New(o Options) *Process {
	if o.Launch == nil {
		o.Launch = (*exec.Cmd).Start
	}
	return &Process{name: o.Name, log: o.Log, path: o.Path, args: o.Args, env: o.Env, launch: o.Launch, ready: o.Ready}
}

// ErrEnded is returned for a component that ended by itself.
var ErrEnded = errors.New("ended by itself")

const (
	readyPoll     = 20 * time.Millisecond // how often a component is asked whether it is ready
	readyPatience = time.Minute           // how long it may take until it is
)

// Start starts the component and returns when it is ready. On an error nothing
// runs; the error has the end of its log.
func (p *Process) Start(ctx context.Context) error {
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := exec.Command(p.path, p.args...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.Env = append(os.Environ(), p.env...)
	// A group of its own keeps a terminal's Ctrl-C from it: the stack ends it in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.launch(cmd); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	p.mu.Lock()
	p.cmd, p.ended = cmd, ended
	p.mu.Unlock()
	if err := p.await(ctx, ended); err != nil {
		p.Kill()
		return fmt.Errorf("%s is not ready: %w\n%s", p.name, err, p.Tail())
	}
	return nil
}

func (p *Process) await(ctx context.Context, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	for {
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return ErrEnded
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(readyPoll):
		}
	}
}

// Alive reports whether the component runs.
func (p *Process) Alive() bool {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended == nil {
		return false
	}
	select {
	case <-ended:
		return false
	default:
		return true
	}
}

// PID returns the process ID of the component as it was last started, 0 if never.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Kill ends the component at once and waits until it is gone.
func (p *Process) Kill() {
	if p.Alive() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// Stop asks the component to end, and kills it when it has not after grace. It
// reports whether it ended by itself.
func (p *Process) Stop(grace time.Duration) bool {
	if !p.Alive() {
		return true
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return true
	case <-time.After(grace):
		p.Kill()
		return false
	}
}

// tailBytes is how much of the log an error shows.
const tailBytes = 4 << 10 // 4 KiB

// Tail returns the end of the component's log.
func (p *Process) Tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	return string(data[max(0, len(data)-tailBytes):])
}
