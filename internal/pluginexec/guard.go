package pluginexec

import (
	"context"
	"os"
)

// guard kills what command has started when ctx ends. Release ends the guard, and returns only when a kill that has begun is
// over, because the process id may be somebody else's later.
//
// exec.CommandContext does the same with a goroutine for each process, which a run of a millisecond feels.
func guard(ctx context.Context, command Command, process *os.Process) (release func()) {
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		if command.Terminal != nil {
			_ = process.Kill()
			return
		}
		killGroup(process)
	})
	return func() {
		if !stop() {
			<-killed
		}
	}
}
