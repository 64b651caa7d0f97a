//go:build unix

package rootfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

func TestSpecialFiles(t *testing.T) {
	t.Run("GRP-7 a pipe is refused and does not block", func(t *testing.T) {
		_, dir := tree{"etc": "dir/"}.unpack(t)
		must(t, syscall.Mkfifo(filepath.Join(dir, "etc", "passwd"), 0o644))
		if id, err := resolve(t, dir, supgroups.Request{RunAsUsername: "alice"}); !errors.Is(err, rootfs.ErrNotRegular) {
			t.Errorf("Resolve(…) = %v, %v, want ErrNotRegular", id, err)
		}
	})
	t.Run("GRP-7 a file that may not be read is an error, not a missing file", func(t *testing.T) {
		_, dir := tree{"etc/passwd": passwd}.unpack(t)
		must(t, os.Chmod(filepath.Join(dir, "etc", "passwd"), 0))
		withoutOverride(t, dir, func() {
			if _, err := resolve(t, dir, supgroups.Request{RunAsUsername: "alice"}); !errors.Is(err, os.ErrPermission) {
				t.Errorf("Resolve(…) = %v, want a permission error", err)
			}
		})
	})
}
