package namespace

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// OnThread runs f on a thread of its own, which ends with it and takes with it what f changed of it: the namespaces
// that it entered, its login UID. It is never the main thread: that does not end before the process, and would keep
// them, and is what /proc/PID shows.
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
