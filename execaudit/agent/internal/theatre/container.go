//go:build linux

package theatre

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Container is a set of cgroups, named as a kubelet names those of a container.
type Container struct {
	ID, PodUID string
	// Directories are its own, one for each hierarchy.
	Directories []string
	// unified is a cgroup below it, on cgroup v2: a container may make some.
	unified string
}

// NewContainer makes the cgroups of a container, in whichever hierarchies there are. They are gone when the test ends.
func NewContainer(t testing.TB) *Container {
	t.Helper()
	var b [48]byte
	_, _ = rand.Read(b[:])
	c := &Container{ID: hex.EncodeToString(b[:32])}
	uid := hex.EncodeToString(b[32:])
	c.PodUID = uid[:8] + "-" + uid[8:12] + "-" + uid[12:16] + "-" + uid[16:20] + "-" + uid[20:]
	for _, hierarchy := range []string{"pids", "memory", "cpu", "unified", ""} {
		root := filepath.Join("/sys/fs/cgroup", hierarchy)
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
			continue
		}
		top := "lanyard-" + uid
		below := filepath.Join(top, "kubepods", "burstable", "pod"+c.PodUID, c.ID)
		if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
			c.unified = filepath.Join(root, below, "leaf")
			makeGroup(t, root, filepath.Join(below, "leaf"))
		} else {
			makeGroup(t, root, below)
		}
		c.Directories = append(c.Directories, filepath.Join(root, below))
	}
	if len(c.Directories) == 0 {
		t.Skip("no cgroups")
	}
	return c
}

// makeGroup makes a cgroup and those above it, and removes them when the test ends.
func makeGroup(t testing.TB, root, below string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, below), 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		for ; below != "."; below = filepath.Dir(below) {
			if err := os.Remove(filepath.Join(root, below)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
				return
			}
		}
	})
}
