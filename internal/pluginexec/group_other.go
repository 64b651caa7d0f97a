//go:build !unix

package pluginexec

import (
	"os/exec"
	"syscall"
)

// ownGroup leaves os/exec's default: the end of the context kills the process. There is no group to kill here.
func ownGroup(*exec.Cmd) {}

func signalOf(*exec.ExitError) syscall.Signal { return 0 }
