package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

func (c *container) rootfs() string { return filepath.Join(c.dir, "rootfs") }

// mountRoot mounts the layers, the lowest first, with a writable layer of the container's own on top.
func (c *container) mountRoot(layers []string) error {
	for _, sub := range []string{"rootfs", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(c.dir, sub), 0o755); err != nil {
			return err
		}
	}
	if len(layers) == 0 {
		return nil // an image of nothing: an empty directory does
	}
	top := slices.Clone(layers)
	slices.Reverse(top)
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s",
		strings.Join(top, ":"), filepath.Join(c.dir, "upper"), filepath.Join(c.dir, "work"))
	if rootless() {
		options += ",userxattr"
	}
	if size := unix.Getpagesize(); len(options) >= size {
		return fmt.Errorf("image has too many layers: %d do not fit into %d bytes of mount options", len(layers), size)
	}
	if err := unix.Mount("overlay", c.rootfs(), "overlay", 0, options); err != nil {
		return &os.PathError{Op: "mount overlay", Path: c.rootfs(), Err: err}
	}
	return nil
}

func (c *container) unmountRoot() error {
	err := unix.Unmount(c.rootfs(), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if err == nil || err == unix.EINVAL || err == unix.ENOENT {
		return nil
	}
	return &os.PathError{Op: "unmount", Path: c.rootfs(), Err: err}
}

// rootless says that this process is not the machine's real root.
func rootless() bool {
	if os.Geteuid() != 0 {
		return true
	}
	b, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(b)), " ") != "0 0 4294967295"
}
