//go:build linux

//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command lanyard-oci stands in the place of an OCI runtime, runc or crun, and executes it. For an exec with a token it
// first verifies the token, takes it off the command, marks the session and writes its record; every other call goes to
// the runtime at once. See README.md.
package main

import (
	"os"
	"runtime"
	"syscall"

	_ "github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-oci/internal/early"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// The kernel's mark belongs to a thread, so the one that sets it must be the one that executes the runtime. The main
// goroutine starts on the main thread, whose place execve takes.
func init() { runtime.LockOSThread() }

func main() {
	call := oci.ParseCall(os.Args[1:])
	config, err := loadConfig()
	if err != nil {
		os.Exit(fail(call, err.Error()))
	}
	w := &wrapper{config: config, call: call}
	if err := w.run(); err != nil {
		os.Exit(fail(call, err.Error()))
	}
}

// wrapper is one call of the runtime.
type wrapper struct {
	config oci.Config
	call   oci.Call
}

// run returns only if the runtime is not executed.
func (w *wrapper) run() error {
	if !w.config.PassThrough {
		switch w.call.Command {
		case "exec":
			if err := w.exec(); err != nil {
				return err
			}
		case "create", "run", "restore":
			w.markWorkload()
		}
	}
	return w.become()
}

// become executes the runtime in this process's place, as if it had been called by its own path: a program that looks
// at its name (crun, for its handlers; runc, in what it prints) finds what it would find without us.
func (w *wrapper) become() error {
	if sameFile(w.config.Runtime, self) {
		return &fault{"the configured runtime " + w.config.Runtime + " is lanyard-oci itself"}
	}
	args := append([]string{w.config.Runtime}, os.Args[1:]...)
	// The runtime takes over the rest: syscall.Exec restores the limit of open files that package os raised.
	if err := syscall.Exec(w.config.Runtime, args, os.Environ()); err != nil {
		return &os.PathError{Op: "execute the runtime", Path: w.config.Runtime, Err: err}
	}
	return nil
}

// exec prepares an exec. If it returns nil, the runtime is to be executed.
func (w *wrapper) exec() error {
	if w.call.Process == "" {
		for _, arg := range w.call.Rest {
			if token.Like(arg) {
				return w.refuse(&fault{"a token is taken from a process file, not from arguments"}, request{args: w.call.Rest})
			}
		}
		w.markWorkload()
		return nil
	}
	text, file, err := readProcess(w.call.Process)
	if err != nil {
		return w.refuse(err, request{})
	}
	p, err := oci.ParseProcess(text)
	if err != nil && oci.HoldsToken(text) {
		return w.refuse(err, request{})
	}
	element, command, err := p.Split()
	if err != nil {
		return w.refuse(err, request{args: p.Args, tty: p.Terminal})
	}
	if element == "" {
		w.markWorkload()
		return nil
	}
	return w.session(p, file, element, command)
}

// fault is an error of this command alone.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }
