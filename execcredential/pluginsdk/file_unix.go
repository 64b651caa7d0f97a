//go:build unix

package pluginsdk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// private reports whether only this user may use the file.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Perm()&0o077 == 0 && int(stat.Uid) == os.Geteuid()
}

func tryLock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
