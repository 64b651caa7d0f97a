//go:build unix

package pluginexec

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the process into a session and process group of its own, and makes the end of the context kill that
// group. In a session without a terminal a prompt on /dev/tty fails at once; in a mere group it would stop until the limit.
func ownGroup(process *exec.Cmd) {
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	process.Cancel = func() error {
		err := syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

func signalOf(exit *exec.ExitError) syscall.Signal {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}
