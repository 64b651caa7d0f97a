//go:build !unix

package pluginexec

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup asks for nothing: there is no group to kill here.
func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup kills the process alone.
func killGroup(leader *os.Process) { _ = leader.Kill() }

func signalOf(*exec.ExitError) syscall.Signal { return 0 }
