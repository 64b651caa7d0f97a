//go:build unix

package source

import (
	"io/fs"
	"syscall"
)

// inode returns the number of a file, which for a cgroup's directory is the cgroup's ID.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
