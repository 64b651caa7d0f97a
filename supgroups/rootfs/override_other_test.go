//go:build unix && !linux

package rootfs_test

import (
	"os"
	"testing"
)

// withoutOverride calls f, or skips as root, who may read everything.
func withoutOverride(t *testing.T, _ string, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	f()
}
