//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/front"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// self is this program's file, whatever its path is by now.
const self = "/proc/self/exe"

// loadConfig returns the configuration that stands beside this program, or where a covered one has it.
func loadConfig() (oci.Config, error) {
	link, err := os.Readlink(self)
	if err != nil {
		return oci.Config{}, err
	}
	exe := front.Executable(link)
	for _, name := range oci.ConfigPaths(exe) {
		text, err := readFile(name, oci.MaxConfigBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return oci.Config{}, err
		}
		config, err := oci.ParseConfig(text)
		if err != nil {
			return oci.Config{}, &fault{name + ": " + err.Error()}
		}
		return config, nil
	}
	return oci.Config{}, &fault{"no configuration: " + strings.Join(oci.ConfigPaths(exe), " and ") + " do not exist"}
}

// readFile returns the content of a regular file of at most limit bytes.
func readFile(name string, limit int) ([]byte, error) {
	// Package os would register the file with the poller, which costs more than reading a small one.
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer syscall.Close(fd)
	return readAll(fd, name, limit, 4<<10)
}

// readAll reads up to limit bytes, into a buffer of size bytes at first.
func readAll(fd int, name string, limit, size int) ([]byte, error) {
	text := make([]byte, 0, size)
	for {
		n, err := syscall.Read(fd, text[len(text):cap(text)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: name, Err: err}
		}
		if n == 0 {
			return text, nil
		}
		text = text[:len(text)+n]
		if len(text) > limit {
			return nil, &fault{name + ": larger than " + strconv.Itoa(limit) + " bytes"}
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	var first, second syscall.Stat_t
	return syscall.Stat(a, &first) == nil && syscall.Stat(b, &second) == nil && first.Dev == second.Dev && first.Ino == second.Ino
}

// processFile is a process file as it was read.
type processFile struct {
	path string
	stat syscall.Stat_t
	link bool
}

// readProcess reads a process file. What cannot be read, or is no regular file (a pipe can be read once, and that is
// the runtime's), comes out as an empty text: the runtime says what is to be said of it. One that is too large to be
// started is an error.
func readProcess(path string) ([]byte, processFile, error) {
	f := processFile{path: path}
	if syscall.Lstat(path, &f.stat) != nil {
		return nil, f, nil
	}
	if f.link = f.stat.Mode&syscall.S_IFMT == syscall.S_IFLNK; f.link && syscall.Stat(path, &f.stat) != nil {
		return nil, f, nil
	}
	if f.stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, f, nil
	}
	flags := syscall.O_RDONLY | syscall.O_CLOEXEC | syscall.O_NONBLOCK
	if !f.link {
		flags |= syscall.O_NOFOLLOW
	}
	fd, err := syscall.Open(path, flags, 0)
	if err != nil {
		return nil, f, nil
	}
	defer syscall.Close(fd)
	if err := syscall.Fstat(fd, &f.stat); err != nil || f.stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, f, nil
	}
	if f.stat.Size > oci.MaxProcessBytes {
		return nil, f, &fault{"the process file has " + strconv.FormatInt(f.stat.Size, 10) + " bytes, more than " + strconv.Itoa(oci.MaxProcessBytes)}
	}
	text, err := readAll(fd, path, oci.MaxProcessBytes, int(f.stat.Size)+1)
	return text, f, err
}

// owned says whether the file is one that nobody else can change before the runtime reads it: not a link, its owner
// this process's, and nobody else may write to it. In whose directory it is, is the caller's concern; containerd's is
// /tmp, where the sticky bit lets nobody else rename it.
func (f processFile) owned() error {
	switch {
	case f.link:
		return &fault{"the process file is a symbolic link"}
	case int(f.stat.Uid) != os.Geteuid():
		return &fault{"the process file is of user " + strconv.Itoa(int(f.stat.Uid)) + ", not of this process's"}
	case f.stat.Mode&0o022 != 0:
		return &fault{"the process file can be written by others"}
	}
	return nil
}

// replacement is what a process file is to become, under a name beside it.
type replacement struct{ temporary, path string }

// prepare writes a replacement with the same mode and owner.
func (f processFile) prepare(text []byte) (replacement, error) {
	r := replacement{f.path + ".lanyard-" + strconv.Itoa(os.Getpid()), f.path}
	file, err := os.OpenFile(r.temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return replacement{}, err
	}
	_, err = file.Write(text)
	if err == nil && f.stat.Mode&0o7777 != 0o600 {
		err = file.Chmod(fs.FileMode(f.stat.Mode & 0o777))
	}
	if err == nil && int(f.stat.Gid) != os.Getegid() {
		err = file.Chown(int(f.stat.Uid), int(f.stat.Gid))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		r.discard()
		return replacement{}, err
	}
	return r, nil
}

// commit puts the replacement in the file's place.
func (r replacement) commit() error {
	if err := os.Rename(r.temporary, r.path); err != nil {
		r.discard()
		return err
	}
	return nil
}

func (r replacement) discard() { _ = os.Remove(r.temporary) }
