//go:build unix

package pluginexec

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// ownGroup asks for a process group of the child's own, which [killGroup] can end.
//
// Where this process has a controlling terminal the child gets a session of its own as well: in a mere group, a prompt
// on /dev/tty would stop it until the limit; in a session without terminal the prompt fails at once. Elsewhere the
// session is left out, because Linux gives each one its own scheduling group, which makes a short run up to twice as
// long.
func ownGroup() *syscall.SysProcAttr {
	if hasControllingTerminal() {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills the group that leader was started in. A group that is gone is not an error.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// hasControllingTerminal asks once: a process that has one loses it only by leaving its session.
var hasControllingTerminal = sync.OnceValue(func() bool {
	terminal, err := syscall.Open("/dev/tty", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_ = syscall.Close(terminal)
	return true
})

func signalOf(exit *exec.ExitError) syscall.Signal {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}
