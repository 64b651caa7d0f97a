package kubernetes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fixedPaths are where a kubelet and containerd write whatever they are told.
var fixedPaths = []string{"/var/lib/kubelet", "/var/log/containers", "/run/containerd", "/run/nri"}

// kernelSettings are those that a kubelet changes when it starts, for the whole machine.
var kernelSettings = []string{
	"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops",
	"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/keys/root_maxbytes",
}

// hidden is what the thread's mount namespace, which must be private, has for itself. Its zero value has nothing.
type hidden struct {
	dir    string
	copied map[string]bool // directories that are copies already
}

// hide gives the namespace its own fixed paths. What is written there is in memory below dir and gone with the namespace.
func hide(dir string) (*hidden, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return nil, err
	}
	h := &hidden{dir, map[string]bool{}}
	for _, path := range fixedPaths {
		if err := h.path(path); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// path puts an empty directory at the path. Where there is none, its parent becomes a copy that has one.
func (h *hidden) path(path string) error {
	if _, err := os.Stat(path); err == nil {
		return mount("tmpfs", path, "tmpfs", 0, "")
	}
	parent := filepath.Dir(path)
	if !h.copied[parent] {
		dir := filepath.Join(h.dir, filepath.Base(path))
		upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
		if err := errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755)); err != nil {
			return err
		}
		if err := mount("overlay", parent, "overlay", 0, "lowerdir="+parent+",upperdir="+upper+",workdir="+work); err != nil {
			return err
		}
		h.copied[parent] = true
	}
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrExist) { // made meanwhile, on the machine
		return mount("tmpfs", path, "tmpfs", 0, "")
	}
	return err
}

// behind puts a directory, which it makes, at the path.
func (h *hidden) behind(path, directory string) error {
	if err := errors.Join(os.MkdirAll(directory, 0o755), h.path(path)); err != nil {
		return err
	}
	return mount(directory, path, "", unix.MS_BIND, "")
}

// coverSettings puts files in the place of the kernel's settings, for whoever starts in the thread's mount namespace.
func coverSettings(dir string) error {
	for _, setting := range kernelSettings {
		value, err := os.ReadFile(setting)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.Base(setting))
		if err := os.WriteFile(file, value, 0o600); err != nil {
			return err
		}
		if err := mount(file, setting, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// uncoverSettings undoes it: a kernel lets no user namespace have a proc of its own where one is covered in part.
func uncoverSettings() error {
	var errs []error
	for _, setting := range kernelSettings {
		if err := unix.Unmount(setting, unix.MNT_DETACH); err != nil {
			errs = append(errs, &os.PathError{Op: "unmount", Path: setting, Err: err})
		}
	}
	return errors.Join(errs...)
}

func mount(what, where, kind string, flags uintptr, options string) error {
	if err := unix.Mount(what, where, kind, flags, options); err != nil {
		return &os.PathError{Op: "mount", Path: where, Err: err}
	}
	return nil
}
