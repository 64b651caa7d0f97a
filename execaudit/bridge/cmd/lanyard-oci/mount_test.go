//go:build linux

package main_test

import (
	"os"
	"syscall"
	"testing"
)

// mount mounts a tmpfs until the test ends.
func mount(t *testing.T, path, options string) {
	t.Helper()
	must(t, os.Mkdir(path, 0o700))
	flags := uintptr(0)
	if options == "ro" {
		flags, options = syscall.MS_RDONLY, ""
	}
	must(t, syscall.Mount("tmpfs", path, "tmpfs", flags, options))
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
