package kubernetes

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/examples/runtime/namespace"
)

// spaces are namespaces that programs are started in: a network's, and a node's mounts. They exist as long as something
// is in them or has them open.
type spaces struct {
	net, mnt *os.File // mnt is nil for the machine's own
}

// newNetwork makes a network namespace with its loopback up.
func newNetwork() (s spaces, err error) {
	err = namespace.OnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("new network namespace: %w", err)
		}
		if err := configure("lo", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error {
			r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
			return nil
		}); err != nil {
			return err
		}
		s.net, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	return s, err
}

// newMounts makes a mount namespace beside the network's: a copy of the machine's mounts that shares none, in which
// prepare may mount.
func (s spaces) newMounts(prepare func() error) (out spaces, err error) {
	err = namespace.OnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("new mount namespace: %w", err)
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("private mounts: %w", err)
		}
		if err := prepare(); err != nil {
			return err
		}
		out.net = s.net
		out.mnt, err = os.Open("/proc/thread-self/ns/mnt")
		return err
	})
	return out, err
}

// do runs f on a thread inside. Sockets that f opens and processes that it starts stay there.
func (s spaces) do(f func() error) error {
	return namespace.OnThread(func() error {
		if err := unix.Setns(int(s.net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network namespace: %w", err)
		}
		if s.mnt != nil {
			// A thread that shares its root and working directory with others cannot change its mounts.
			if err := errors.Join(unix.Unshare(unix.CLONE_FS), unix.Setns(int(s.mnt.Fd()), unix.CLONE_NEWNS)); err != nil {
				return fmt.Errorf("enter the mount namespace: %w", err)
			}
		}
		return f()
	})
}

// launch starts the command inside.
func (s spaces) launch(cmd *exec.Cmd) error { return s.do(cmd.Start) }

// addAddress gives the loopback interface one more address, as its alias of the number.
func (s spaces) addAddress(number int, address net.IP) error {
	alias := fmt.Sprintf("lo:%d", number)
	return s.do(func() error {
		return errors.Join(
			configure(alias, unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(address.To4()) }),
			configure(alias, unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr(net.IPv4bcast.To4()) }),
		)
	})
}

// configure changes an interface of the thread's network namespace.
func configure(name string, request uint, set func(*unix.Ifreq) error) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	r, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := set(r); err != nil {
		return err
	}
	if err := unix.IoctlIfreq(socket, request, r); err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	return nil
}
