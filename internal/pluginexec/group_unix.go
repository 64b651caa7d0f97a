//go:build unix

package pluginexec

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the process into a process group of its own, and makes the end of the context kill that group.
//
// Where this process has a controlling terminal the child gets a session of its own as well: in a mere group, a prompt on
// /dev/tty would stop it until the limit; in a session without terminal the prompt fails at once. Elsewhere the session is
// left out, because Linux gives each one its own scheduling group, which makes a short run up to twice as long.
func ownGroup(process *exec.Cmd) {
	if hasControllingTerminal() {
		process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	} else {
		process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	process.Cancel = func() error {
		err := syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

func hasControllingTerminal() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	terminal.Close()
	return true
}

func signalOf(exit *exec.ExitError) syscall.Signal {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}
