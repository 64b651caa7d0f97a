package pluginexec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

const (
	// MaxStdout is the largest output of a run whose command sets no other limit.
	MaxStdout = 1 << 20 // 1 MiB
	// MaxStderr is how much of the end of standard error is kept.
	MaxStderr = 4 << 10 // 4 KiB
	// DrainTime is how long a run waits for the pipes after the process has ended, when a grandchild still holds them.
	DrainTime = 250 * time.Millisecond
)

// Command describes one run. Only Path is required.
type Command struct {
	// Path is the executable, as [Lookup] returns it. It is not searched for again.
	Path string
	// Args are the arguments after the program's name, passed as they are: no shell, no expansion.
	Args []string
	// Env is the whole environment, as NAME=VALUE; of entries with one name the last wins. Nil is the empty environment.
	Env []string
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Stdin is what the process reads. When it and Terminal are nil, the process reads end of file at once.
	Stdin []byte
	// Terminal, when set, is inherited as standard input. The process then stays in the caller's process group, because
	// a terminal serves one group at a time: an interrupt from the keyboard reaches both, and at the end of
	// the context the process alone is killed.
	Terminal *os.File
	// Stderr receives standard error as it is written, besides the tail that is kept. Nil is nobody. A writer that
	// blocks holds the run; one that fails ends the copying.
	Stderr io.Writer
	// Timeout is the time limit; zero or less is none beyond the context.
	Timeout time.Duration
	// MaxStdout is the largest output in bytes; zero or less is the constant MaxStdout.
	MaxStdout int64
}

// Result is what a process that ended with exit code 0 left behind.
type Result struct {
	// Stdout is the whole standard output. For a credential plugin this is a secret.
	Stdout []byte
	// Stderr is the end of standard error, at most MaxStderr bytes.
	Stderr []byte
}

// GoString returns a text without the output.
func (r Result) GoString() string { return redact.Mark }

// String returns a text without the output.
func (r Result) String() string { return redact.Mark }

// Run starts the command, waits for it and returns its output.
//
// A grandchild that outlives the process and keeps its pipes open delays the return by [DrainTime] at most; it is left
// alone, because it may be a credential daemon. On Unix a run that is cut short kills its process group; elsewhere, and
// with a Terminal, the process alone.
//
// Errors, none of which holds an argument, an environment value, standard input or output in its text:
// *[LookupError] or *[StartError] when the process cannot be started, *[CancelledError] when ctx ends,
// *[TimeoutError], *[OutputTooLargeError], and *[ExitError] for any other end than exit code 0.
func Run(ctx context.Context, command Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, &CancelledError{Path: command.Path, Err: context.Cause(ctx)}
	}
	growStack()
	watcher := newGuard(command)
	stdout := &bounded{limit: command.stdoutLimit(), overflow: func() { watcher.end(errOverflow) }}
	stderr := &tail{}
	output, err := newPipe(stdout)
	if err != nil {
		return Result{}, startError(command.Path, err)
	}
	process := build(command, output.writer, stderr)
	input, err := prefilled(command.Stdin)
	if err != nil {
		output.abandon()
		return Result{}, startError(command.Path, err)
	}
	if input != nil {
		process.Stdin = input
		defer input.Close()
	}
	if err := process.Start(); err != nil {
		output.abandon()
		return Result{}, startError(command.Path, err)
	}
	watcher.watch(ctx, process.Process, command.Timeout)
	output.start()
	err = process.Wait()
	reason := watcher.leave()
	if errors.Is(err, exec.ErrWaitDelay) {
		output.finish(0) // standard error has waited already
	} else {
		output.finish(DrainTime)
	}
	if stdout.over {
		return Result{}, &OutputTooLargeError{Path: command.Path, Limit: stdout.limit, Stderr: stderr.data}
	}
	if process.ProcessState != nil && process.ProcessState.Success() {
		return Result{Stdout: stdout.data, Stderr: stderr.data}, nil
	}
	return Result{}, ended(reason, command, process, stderr.data, err)
}

func (c Command) stdoutLimit() int64 {
	if c.MaxStdout > 0 {
		return c.MaxStdout
	}
	return MaxStdout
}

func build(command Command, stdout *os.File, stderr io.Writer) *exec.Cmd {
	process := exec.Command(command.Path, command.Args...)
	process.Path, process.Err = command.Path, nil // as the caller resolved it: not looked up again
	process.Dir = command.Dir
	process.Env = command.Env
	if process.Env == nil {
		process.Env = []string{}
	}
	process.Stdout = stdout
	process.Stderr = stderr
	if command.Stderr != nil {
		process.Stderr = io.MultiWriter(stderr, command.Stderr)
	}
	process.WaitDelay = DrainTime
	switch {
	case command.Terminal != nil:
		process.Stdin = command.Terminal
	case command.Stdin != nil:
		process.Stdin = bytes.NewReader(command.Stdin)
		process.SysProcAttr = ownGroup()
	default:
		process.SysProcAttr = ownGroup()
	}
	return process
}

// ended names the reason of an end without success. The guard's counts only here: a process that finished well just before its
// limit has finished well.
func ended(reason error, command Command, process *exec.Cmd, stderr []byte, err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(reason, errTimeout):
		return &TimeoutError{Path: command.Path, Limit: command.Timeout, Stderr: stderr}
	case reason != nil:
		return &CancelledError{Path: command.Path, Err: reason, Stderr: stderr}
	case errors.As(err, &exit):
		return &ExitError{Path: command.Path, Code: exit.ExitCode(), Signal: signalOf(exit), Stderr: stderr}
	}
	return &StartError{Path: command.Path, Err: err}
}
