//go:build !linux

package pluginexec

import "os"

func blockingPipe() (r, w *os.File, err error) { return os.Pipe() }
