package rootfs_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// withoutOverride calls f on a thread that may not read what its mode forbids, root's own power to do so dropped. The
// thread ends with f.
func withoutOverride(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	for parent := dir; parent != "/" && parent != "/tmp"; parent = filepath.Dir(parent) {
		must(t, os.Chmod(parent, 0o755)) // another user has to get there
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		const nobody = 65534
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}
