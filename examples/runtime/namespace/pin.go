package namespace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Kind is one kind of namespace, by its name under /proc/PID/ns.
type Kind string

// The kinds that can be kept without a process.
const (
	Network Kind = "net"
	IPC     Kind = "ipc"
	UTS     Kind = "uts"
)

var flags = map[Kind]int{Network: unix.CLONE_NEWNET, IPC: unix.CLONE_NEWIPC, UTS: unix.CLONE_NEWUTS}

// Pin makes new namespaces of the kinds and binds each to the file dir/KIND. A network namespace has its loopback up, a
// UTS namespace has the hostname. When it fails, nothing stays bound.
func Pin(dir, hostname string, kinds ...Kind) error {
	if err := OnThread(func() error { return pin(dir, hostname, kinds) }); err != nil {
		return errors.Join(err, Unpin(dir))
	}
	return nil
}

func pin(dir, hostname string, kinds []Kind) error {
	for _, k := range kinds {
		if err := unix.Unshare(flags[k]); err != nil {
			return fmt.Errorf("new %s namespace: %w", k, err)
		}
		if err := setUp(k, hostname); err != nil {
			return fmt.Errorf("set up %s namespace: %w", k, err)
		}
		if err := bind(fmt.Sprintf("/proc/thread-self/ns/%s", k), filepath.Join(dir, string(k))); err != nil {
			return err
		}
	}
	return nil
}

func setUp(k Kind, hostname string) error {
	switch k {
	case Network:
		return loopbackUp()
	case UTS:
		return unix.Sethostname([]byte(hostname))
	}
	return nil
}

func bind(from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return &os.PathError{Op: "bind", Path: to, Err: err}
	}
	return nil
}

// loopbackUp sets the interface "lo" of the thread's network namespace up.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req)
}

// Path returns the file that the namespace is bound to, and whether there is one.
func Path(dir string, k Kind) (string, bool) {
	path := filepath.Join(dir, string(k))
	_, err := os.Stat(path)
	return path, err == nil
}

// Unpin lets go of all namespaces bound in dir. It may be called again.
func Unpin(dir string) error {
	var errs error
	for k := range flags {
		path := filepath.Join(dir, string(k))
		if err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && err != unix.EINVAL && err != unix.ENOENT {
			errs = errors.Join(errs, &os.PathError{Op: "unmount", Path: path, Err: err})
			continue
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// Do runs f on a thread that is in the network namespace bound in dir, or in the caller's if none is. Sockets that f
// opens stay in that namespace.
func Do(dir string, f func() error) error {
	path, ok := Path(dir, Network)
	if !ok {
		return f()
	}
	return OnThread(func() error { return enter(path, f) })
}

func enter(path string, f func() error) error {
	ns, err := os.Open(path)
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return &os.PathError{Op: "setns", Path: path, Err: err}
	}
	return f()
}
