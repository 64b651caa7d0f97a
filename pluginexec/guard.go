package pluginexec

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// Reasons of a guard that are not its context's.
var (
	errOverflow = errors.New("output limit")
	errTimeout  = errors.New("time limit")
)

// guard kills a process once, for the first reason that comes. exec.CommandContext does so with a goroutine for each
// process, and a context for each reason is as dear: a run of a millisecond feels both.
type guard struct {
	kill    func(*os.Process)
	release []func() bool

	mu      sync.Mutex
	process *os.Process // nil before the start and after the end
	reason  error
}

// newGuard returns the guard of what command starts.
func newGuard(command Command) *guard {
	if command.Terminal != nil {
		return &guard{kill: func(p *os.Process) { _ = p.Kill() }}
	}
	return &guard{kill: killGroup}
}

// watch kills process when ctx ends, or after the limit; zero or less is none.
func (g *guard) watch(ctx context.Context, process *os.Process, limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.process = process
	g.release = append(g.release, context.AfterFunc(ctx, func() { g.end(context.Cause(ctx)) }))
	if limit > 0 {
		g.release = append(g.release, time.AfterFunc(limit, func() { g.end(errTimeout) }).Stop)
	}
}

// end kills the process, unless that is done already.
func (g *guard) end(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.process == nil || g.reason != nil {
		return
	}
	g.reason = reason
	g.kill(g.process)
}

// leave ends the guard: its process has ended, and the ID may be somebody else's from now on. It returns why it was
// killed, nil when it was not.
func (g *guard) leave() error {
	for _, release := range g.release {
		release()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.process = nil
	return g.reason
}
