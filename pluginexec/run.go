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
	// DefaultMaxStdout is the largest standard output of a run whose command sets no other limit.
	DefaultMaxStdout = 1 << 20 // 1 MiB
	// MaxStderr is how much of the end of standard error is kept.
	MaxStderr = 4 << 10 // 4 KiB
	// DrainTime is how long a run waits for the pipes after the process has ended, when a grandchild still holds them.
	DrainTime = 250 * time.Millisecond
)

// Command describes one run. Only Path is required. Its arguments, environment and input are not shown when it is
// printed, encoded or logged.
type Command struct {
	// Path is the executable, as [Lookup] returns it. It is not searched for again.
	Path string
	// Args are the arguments after the program's name, in order, passed as they are: no shell, no expansion.
	Args []redact.Text
	// Env is the whole environment, one NAME=VALUE each; of entries with the same name the last wins. Nil is the empty
	// environment, not the caller's: for that, set redact.Texts(os.Environ()...).
	Env []redact.Text
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Stdin is what the process reads. When it is empty and Terminal is nil, the process reads end of file at once.
	Stdin redact.Bytes
	// Terminal, when set, is inherited as standard input, and Stdin is ignored. The process then stays in the caller's
	// process group, because a terminal serves one group at a time: an interrupt from the keyboard reaches both, and at
	// the end of the context only the process is killed.
	Terminal *os.File
	// Stderr receives standard error as it is written, unchanged, in addition to the tail that is kept. If nil, it is
	// discarded. A writer that blocks delays the run; one that fails ends the copying.
	Stderr io.Writer
	// Timeout is the time limit; zero or less is none beyond the context.
	Timeout time.Duration
	// MaxStdout is the largest standard output in bytes; zero or less is [DefaultMaxStdout].
	MaxStdout int64
}

// Result is the output of a process that ended with exit code 0.
type Result struct {
	// Stdout is the whole standard output. For a credential plugin this is a secret.
	Stdout redact.Bytes
	// Stderr is the end of standard error, at most [MaxStderr] bytes.
	Stderr redact.Bytes
}

// Run starts the command, waits for it and returns its output.
//
// A grandchild that outlives the process and keeps its pipes open delays the return by [DrainTime] at most; it is left
// alone, because it may be a credential daemon. On Unix a run that is cut short kills its process group; elsewhere, and
// with a Terminal, the process alone.
//
// Errors, none of which shows an argument, an environment value, standard input or output: *[LookupError] or
// *[StartError] when the process cannot be started, *[CancelledError] when ctx ends, *[TimeoutError] at the time limit,
// *[OutputTooLargeError] at the output limit, and *[ExitError] for every other end except exit code 0.
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
	input, err := prefilled(command.Stdin.Reveal())
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
		return Result{}, &OutputTooLargeError{Path: command.Path, Limit: stdout.limit, Stderr: redact.NewBytes(stderr.data)}
	}
	if process.ProcessState != nil && process.ProcessState.Success() {
		return Result{Stdout: redact.NewBytes(stdout.data), Stderr: redact.NewBytes(stderr.data)}, nil
	}
	return Result{}, ended(reason, command, process, redact.NewBytes(stderr.data), err)
}

func (c Command) stdoutLimit() int64 {
	if c.MaxStdout > 0 {
		return c.MaxStdout
	}
	return DefaultMaxStdout
}

func build(command Command, stdout *os.File, stderr io.Writer) *exec.Cmd {
	process := exec.Command(command.Path, redact.Reveal(command.Args)...)
	process.Path, process.Err = command.Path, nil // as the caller resolved it: not looked up again
	process.Dir = command.Dir
	process.Env = redact.Reveal(command.Env)
	if process.Env == nil { // which os/exec takes for the caller's
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
	case !command.Stdin.IsEmpty():
		process.Stdin = bytes.NewReader(command.Stdin.Reveal())
		process.SysProcAttr = ownGroup()
	default:
		process.SysProcAttr = ownGroup()
	}
	return process
}

// ended names the reason of an end without success. The guard's counts only here: a process that finished well just
// before its limit has finished well.
func ended(reason error, command Command, process *exec.Cmd, stderr redact.Bytes, err error) error {
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
