package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// live is one process of a line of descent. The first word says which; each step is one generation, the first this
// process.
//
//	child      as it is
//	kill       it kills its parent, then goes on
//	daemon     in a session of its own, with dir/gate as its standard input; nobody waits for it
//	late       it comes only when its parent's standard input has ended
//	as=ID      with that audit ID in its environment
//	bare       with none
//	become=ID  no child: this process becomes the rest, with that audit ID in its environment
func live(dir string, words []string) error {
	if len(words) < 2 {
		return errors.New("live: a name and a step are missing")
	}
	name, steps := words[0], words[1:]
	if steps[0] == "kill" {
		if err := killParent(); err != nil {
			return err
		}
	}
	if err := reportInto(filepath.Join(dir, "reports")); err != nil {
		return err
	}
	if len(steps) == 1 {
		return hold()
	}
	how, id, _ := strings.Cut(steps[1], "=")
	next := append([]string{"live", dir, name}, steps[1:]...)
	switch how {
	case "become":
		return forge(append([]string{id}, next...))
	case "late":
		if err := hold(); err != nil {
			return err
		}
	}
	child, err := bear(dir, how, id, next)
	if err != nil {
		return err
	}
	if err := hold(); err != nil || how == "daemon" {
		return err
	}
	// It may have been killed, which is not a fault.
	_ = child.Wait()
	return nil
}

// bear starts the next generation. Nothing of it is shown: it may outlive the session.
func bear(dir, how, id string, args []string) (*exec.Cmd, error) {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdin = os.Stdin
	switch how {
	case "as":
		cmd.Env = append(os.Environ(), execaudit.AuditIDName+"="+id)
	case "bare":
		if err := os.Unsetenv(execaudit.AuditIDName); err != nil {
			return nil, err
		}
	case "daemon":
		// Where nobody holds the gate any more, its end is there at once; opening it otherwise would wait for somebody.
		gate, err := os.OpenFile(filepath.Join(dir, "gate"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		defer gate.Close()
		cmd.Stdin, cmd.SysProcAttr = gate, &syscall.SysProcAttr{Setsid: true}
	}
	return cmd, cmd.Start()
}

// reportInto prints the report and appends it to a file that many processes write: in one write, so that lines stay
// whole.
func reportInto(file string) error {
	r, err := report.Self()
	if err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	_, shown := os.Stdout.Write(line)
	return errors.Join(err, f.Close(), shown)
}

// killParent returns when the parent is gone.
func killParent() error {
	parent := os.Getppid()
	fd, err := unix.PidfdOpen(parent, 0)
	if err != nil {
		return fmt.Errorf("parent %d: %w", parent, err)
	}
	defer unix.Close(fd)
	if os.Getppid() != parent {
		return nil // it ended by itself, and its number may be another's by now
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		return err
	}
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// hold waits for the end of standard input.
func hold() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
