//go:build linux

package install

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// leaveWait is how long a call that is in the wrapper may take to reach the real runtime.
const leaveWait = 10 * time.Second

// escaped returns a path as one name, as [oci.ConfigPaths] does.
func escaped(path string) string { return strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "-") }

// realDirectory returns where the directory of the covered file is reached, with the file in it uncovered.
func realDirectory(path string) string {
	return filepath.Join(runDirectory, "real", escaped(filepath.Dir(path)))
}

// realOf returns where the covered file is reached.
func realOf(path string) string { return filepath.Join(realDirectory(path), filepath.Base(path)) }

// bindReal binds the file's directory to where the file is reached once it is covered. It is the directory, since runc
// 1.2 and later start themselves again from an overlay over the directory that they are in, which shows no mounts.
func bindReal(path string) error {
	target := realDirectory(path)
	if same(path, realOf(path)) {
		return nil
	}
	staging := filepath.Join(runDirectory, "staging")
	staged := filepath.Join(staging, filepath.Base(target))
	if err := errors.Join(os.MkdirAll(target, 0o755), os.MkdirAll(staging, 0o700)); err != nil {
		return err
	}
	// A mount can be moved only out of one that is private.
	if err := bound(staging, staging); err != nil {
		return err
	}
	defer os.Remove(staging)
	defer unix.Unmount(staging, unix.MNT_DETACH)
	if err := os.MkdirAll(staged, 0o700); err != nil {
		return err
	}
	defer os.Remove(staged)
	if err := bound(filepath.Dir(path), staged); err != nil {
		return err
	}
	err := unix.Mount("", staged, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NODEV, "")
	if err == nil {
		err = unix.Mount(staged, target, "", unix.MS_MOVE, "")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("mount %s at %s: %w", filepath.Dir(path), target, err), unix.Unmount(staged, unix.MNT_DETACH))
	}
	return nil
}

// bound binds a path to another, and makes the mount private: no mount upon the source reaches it.
func bound(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", from, to, err)
	}
	if err := unix.Mount("", to, "", unix.MS_PRIVATE, ""); err != nil {
		return errors.Join(fmt.Errorf("make the mount %s private: %w", to, err), unix.Unmount(to, unix.MNT_DETACH))
	}
	return nil
}

// cover binds the wrapper over the file.
func cover(wrapper, path string) error {
	if same(wrapper, path) {
		return nil
	}
	if err := unix.Mount(wrapper, path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s over %s: %w", wrapper, path, err)
	}
	return nil
}

// uncover takes every mount of a wrapper off the file. Calls that are in the wrapper go on.
func uncover(path string) error {
	for {
		mounts, err := mountsAt(path)
		if err != nil {
			return err
		}
		if len(mounts) == 0 || !ours(mounts[len(mounts)-1]) {
			return nil
		}
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", path, err)
		}
	}
}

// ours tells whether a mount is of a wrapper, also of one that was replaced since ("…//deleted").
func ours(root string) bool { return strings.Contains(root, "/lanyard-oci-") }

// mountsAt returns what is mounted at the path, as paths in the mounts' file systems, the uppermost last.
func mountsAt(path string) (roots []string, err error) {
	f, err := os.Open("/proc/thread-self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && unescape(fields[4]) == path {
			roots = append(roots, unescape(fields[3]))
		}
	}
	return roots, nil
}

// unescape undoes the kernel's way of writing spaces, tabs, newlines and backslashes.
func unescape(field string) string {
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) {
			if n, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(field[i])
	}
	return b.String()
}

// removeReal takes away the mount of the real file, once no call is between the wrapper and it; false is not yet.
func removeReal(wrapper, path string) (bool, error) {
	for end := time.Now().Add(leaveWait); running(wrapper); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false, nil
		}
	}
	target := realDirectory(path)
	mounts, err := mountsAt(target)
	for range mounts {
		err = errors.Join(err, unix.Unmount(target, unix.MNT_DETACH))
	}
	if err != nil {
		return false, fmt.Errorf("unmount %s: %w", target, err)
	}
	for _, file := range []string{target, filepath.Dir(target), filepath.Join(runDirectory, escaped(path)+".json"), runDirectory} {
		_ = os.Remove(file) // the directories stay where they have other files
	}
	return true, nil
}

// running tells whether a process executes the file.
func running(file string) bool {
	entries, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range entries {
		if same(exe, file) {
			return true
		}
	}
	return false
}
