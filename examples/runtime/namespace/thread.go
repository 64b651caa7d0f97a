package namespace

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// OnThread runs f on a thread of its own, which ends with it and takes the namespaces with it that f entered. It is never
// the main thread: that does not end before the process, and would keep them, and is what /proc/PID/ns shows.
func OnThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // until the thread ends
		if unix.Gettid() == unix.Getpid() {
			// While this goroutine has the main thread, another gets another.
			err := OnThread(f)
			runtime.UnlockOSThread()
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}
