package namespace_test

import (
	"errors"
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/namespace"
)

func TestPin(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	t.Run("STK-2 namespaces live without a process, are entered, and go", func(t *testing.T) {
		dir := t.TempDir()
		if err := namespace.Pin(dir, "a-pod", namespace.Network, namespace.UTS); err != nil {
			t.Fatal(err)
		}
		defer namespace.Unpin(dir)
		if _, ok := namespace.Path(dir, namespace.IPC); ok {
			t.Error("a namespace that was not asked for is there")
		}
		outside := interfaces(t)
		err := namespace.Do(dir, func() error {
			inside := interfaces(t)
			if len(inside) != 1 || inside[0].Flags&net.FlagUp == 0 {
				t.Errorf("inside are %v, want a loopback that is up", inside)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := interfaces(t); len(got) != len(outside) {
			t.Errorf("after Do this thread sees %v, before %v", got, outside)
		}
		for range 2 {
			if err := namespace.Unpin(dir); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
	t.Run("STK-2 a pin that fails leaves nothing", func(t *testing.T) {
		dir := t.TempDir()
		// A directory in the place of the file.
		if err := os.Mkdir(dir+"/uts", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := namespace.Pin(dir, "x", namespace.Network, namespace.UTS); err == nil {
			t.Fatal("no error")
		}
		if _, ok := namespace.Path(dir, namespace.Network); ok {
			t.Error("the first namespace is still bound")
		}
	})
}

func interfaces(t *testing.T) []net.Interface {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// onMain is what came of a call from the main thread, which a goroutine that it starts would find free.
var onMain error

func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	runtime.UnlockOSThread()
	onMain = namespace.OnThread(func() error {
		if unix.Gettid() == unix.Getpid() {
			return errors.New("on the main thread")
		}
		return nil
	})
	os.Exit(m.Run())
}

func TestOnThread(t *testing.T) {
	t.Run("STK-2 the main thread enters no namespace", func(t *testing.T) {
		if onMain != nil {
			t.Error(onMain)
		}
	})
}
