//go:build unix

package keys

import (
	"os"
	"syscall"
)

// keepOwner gives the file the owner of the one that it replaces.
func keepOwner(file *os.File, of os.FileInfo) error {
	s, ok := of.Sys().(*syscall.Stat_t)
	if !ok || int(s.Uid) == os.Geteuid() && int(s.Gid) == os.Getegid() {
		return nil
	}
	return file.Chown(int(s.Uid), int(s.Gid))
}
