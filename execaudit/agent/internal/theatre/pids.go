//go:build linux

package theatre

import (
	"os"
	"sync"
	"testing"
	"time"
)

// lastPID has the number that the machine gave out last.
const lastPID = "/proc/sys/kernel/ns_last_pid"

// Recycle has the machine give out the same numbers again and again, as they are free, until the test calls stop or
// ends.
func Recycle(t testing.TB) (stop func()) {
	t.Helper()
	text, err := os.ReadFile(lastPID)
	if err != nil {
		t.Skip(err)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			if err := os.WriteFile(lastPID, text, 0); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	stop = sync.OnceFunc(func() { close(end); <-ended })
	t.Cleanup(stop)
	return stop
}
