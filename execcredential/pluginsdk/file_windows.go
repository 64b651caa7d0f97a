package pluginsdk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

// private accepts every file: on Windows the directory's ACL decides who has access, and a user's profile is private.
func private(fs.FileInfo) bool { return true }

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	lockExclusive       = 0x2
	lockFailImmediately = 0x1
	errLockViolation    = syscall.Errno(33)
)

func tryLock(file *os.File) error {
	var overlapped syscall.Overlapped
	done, _, err := lockFileEx.Call(file.Fd(), lockExclusive|lockFailImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&overlapped)))
	if done != 0 {
		return nil
	}
	if errors.Is(err, errLockViolation) {
		return errLocked
	}
	return err
}
