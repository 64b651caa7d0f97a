//go:build linux

package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// host is the machine that is acted on. Its files are below root, in the mount namespace of a process.
type host struct {
	root string
	pid  int // 0 is the caller's own namespace
}

// do runs f in the host's mount namespace, on a thread that ends with it. Programs that f starts are in it too.
func (h host) do(f func() error) error {
	if h.pid == 0 {
		return f()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is not for others
		if unix.Gettid() == unix.Getpid() {
			// The main thread cannot end. While this goroutine has it, another gets another.
			err := h.do(f)
			runtime.UnlockOSThread()
			done <- err
			return
		}
		done <- h.enter(f)
	}()
	return <-done
}

func (h host) enter(f func() error) error {
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", h.pid))
	if err != nil {
		return err
	}
	defer namespace.Close()
	// A thread that shares its root and working directory with others cannot change its mounts.
	if err := errors.Join(unix.Unshare(unix.CLONE_FS), unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNS)); err != nil {
		return fmt.Errorf("enter the mount namespace of process %d: %w", h.pid, err)
	}
	return f()
}

// path returns where a path of the host's is.
func (h host) path(path string) string {
	if h.root == "" {
		return path
	}
	return filepath.Join(h.root, path)
}

// resolve returns the host's path without symbolic links; what is not there is as it is.
func (h host) resolve(path string) (string, error) {
	for range 40 {
		at, changed := "/", false
		for _, name := range strings.Split(strings.Trim(filepath.Clean(path), "/"), "/") {
			next := filepath.Join(at, name)
			target, err := os.Readlink(h.path(next))
			if err == nil && !changed {
				if !filepath.IsAbs(target) {
					target = filepath.Join(at, target)
				}
				next, changed = target, true
			}
			at = next
		}
		if !changed {
			return at, nil
		}
		path = at
	}
	return "", &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
}

// write replaces the file in one step. A file that is there keeps its mode and owner.
func (h host) write(path string, content []byte, mode fs.FileMode) (err error) {
	if path, err = h.resolve(path); err != nil {
		return err
	}
	path = h.path(path)
	removeHalf(path)
	f, err := os.CreateTemp(filepath.Dir(path), halfOf(path)+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if former, statErr := os.Stat(path); statErr == nil {
		mode = former.Mode().Perm()
		s := former.Sys().(*syscall.Stat_t)
		if int(s.Uid) != os.Geteuid() || int(s.Gid) != os.Getegid() {
			err = errors.Join(err, f.Chown(int(s.Uid), int(s.Gid)))
		}
	}
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// halfOf is how the name of a file begins that is to replace another.
func halfOf(path string) string { return "." + filepath.Base(path) + "-lanyard-" }

// removeHalf removes what an installer that was killed had written of the file: CRI-O reads whatever is in its directory.
func removeHalf(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), halfOf(path)) {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// read returns the file's content, or nil where there is none.
func (h host) read(path string) ([]byte, error) {
	resolved, err := h.resolve(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(h.path(resolved))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if content == nil && err == nil {
		content = []byte{}
	}
	return content, err
}

func (h host) remove(path string) error {
	removeHalf(h.path(path))
	if err := os.Remove(h.path(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeDirectory makes the directory and those above it, and returns the ones that were not there, the innermost first.
func (h host) makeDirectory(path string, mode fs.FileMode) (made []string, err error) {
	for up := filepath.Clean(path); up != "/"; up = filepath.Dir(up) {
		if _, err := os.Stat(h.path(up)); err == nil {
			break
		}
		made = append(made, up)
	}
	return made, os.MkdirAll(h.path(path), mode)
}

// same tells whether both are one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// lock keeps a second installer away until it is closed.
func (h host) lock(state string) (*os.File, error) {
	if err := os.MkdirAll(h.path(state), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(h.path(filepath.Join(state, "install.lock")), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeEmpty removes a directory that has nothing in it.
func (h host) removeEmpty(path string) error { return unix.Rmdir(h.path(path)) }
