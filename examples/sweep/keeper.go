package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// keeperName is the first argument of a keeper; the second is the directory, the third says whether to remove it.
const keeperName = "lanyard-keeper"

// What a keeper is given open.
const (
	pipeFD    = 3
	networkFD = 4
)

// remove is the third argument of a keeper that removes the directory.
const remove = "remove"

func init() {
	if len(os.Args) == 3 && os.Args[0] == keeperName {
		os.Exit(keep(Place{
			Network: os.NewFile(networkFD, "network namespace"), Dir: os.Args[1], Remove: os.Args[2] == remove,
		}))
	}
}

// keep waits until the starter closes the pipe or ends, sweeps, and returns the exit code.
func keep(p Place) int {
	// Nobody may listen anymore.
	signal.Ignore(syscall.SIGPIPE)
	if _, err := io.Copy(io.Discard, os.NewFile(pipeFD, "pipe")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := p.Sweep(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Keeper sweeps a place when its starter ends.
type Keeper struct {
	place Place
	pipe  *os.File
	cmd   *exec.Cmd
	said  bytes.Buffer
}

// Keep starts the keeper of a place, whose directory need not be there yet. Close it when done.
func Keep(p Place) (*Keeper, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	k := &Keeper{place: p, pipe: writer, cmd: exec.Command("/proc/self/exe")}
	how := ""
	if p.Remove {
		how = remove
	}
	k.cmd.Args = []string{keeperName, p.Dir, how}
	k.cmd.Dir, k.cmd.Env = "/", []string{}
	k.cmd.ExtraFiles = []*os.File{reader, p.Network}
	k.cmd.Stderr = &k.said
	// No signal for the starter's terminal or process group reaches it.
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := k.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("the keeper of %s: %w", p.Dir, err), writer.Close())
	}
	return k, nil
}

// Close has the keeper sweep now, and returns what it could not. Where it was killed, its work is done here.
func (k *Keeper) Close() error {
	closed := k.pipe.Close()
	err := k.cmd.Wait()
	if status, ok := k.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return errors.Join(closed, k.place.Sweep())
	}
	if err != nil {
		err = fmt.Errorf("the keeper of %s: %w: %s", k.place.Dir, err, bytes.TrimSpace(k.said.Bytes()))
	}
	return errors.Join(closed, err)
}

// spared are the processes that are never killed: this one and its starter.
func spared(pid int) bool { return pid == unix.Getpid() || pid == unix.Getppid() }
