package transport

import (
	"os"
	"syscall"
)

// isTerminal asks for the mode of a console, which only a console has.
func isTerminal(file *os.File) bool {
	if file == nil {
		return false
	}
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(file.Fd()), &mode) == nil
}
