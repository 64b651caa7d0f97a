package connector

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// bufferBytes is how much the kernel keeps for a reader that is behind: some ten thousand events.
	bufferBytes = 16 << 20 // 16 MiB
	// ackWait bounds the wait for the kernel's answer to the subscription.
	ackWait = 2 * time.Second
)

// socket is a subscription to the proc connector.
type socket struct {
	file *os.File
	raw  syscall.RawConn
}

// subscribe returns once the kernel has begun to tell.
func subscribe() (*socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_CONNECTOR)
	if errors.Is(err, unix.EPROTONOSUPPORT) {
		return nil, ErrUnsupported
	}
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &socket{file: os.NewFile(uintptr(fd), "proc connector")}
	if err := s.listen(fd); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

func (s *socket) listen(fd int) (err error) {
	if s.raw, err = s.file.SyscallConn(); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bufferBytes); err != nil {
		return os.NewSyscallError("setsockopt SO_RCVBUFFORCE", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: connectorIndex}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	err = s.send(opListen)
	if errors.Is(err, unix.ECONNREFUSED) { // another network namespace
		return ErrUnsupported
	}
	if err != nil {
		return err
	}
	return s.acknowledged()
}

func (s *socket) send(op uint32) (err error) {
	controlled := s.raw.Control(func(fd uintptr) {
		err = unix.Sendto(int(fd), request(op), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	})
	return errors.Join(controlled, err)
}

// acknowledged waits for the answer to the subscription.
func (s *socket) acknowledged() error {
	if err := s.file.SetReadDeadline(time.Now().Add(ackWait)); err != nil {
		return err
	}
	for {
		n, err := s.receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return ErrUnsupported
		case err != nil && !errors.Is(err, unix.ENOBUFS):
			return err
		case err == nil && n.what == whatAck && n.refused != 0:
			return os.NewSyscallError("subscribe", syscall.Errno(n.refused))
		case err == nil && n.what == whatAck:
			return s.sleep()
		}
	}
}

// receive waits for the next notice. ENOBUFS says that some were lost.
func (s *socket) receive() (n notice, err error) {
	for {
		waited := s.raw.Read(func(fd uintptr) bool {
			n, err = take(int(fd))
			return !errors.Is(err, unix.EAGAIN)
		})
		if waited != nil {
			return n, waited
		}
		if !errors.Is(err, errForeign) {
			return n, err
		}
	}
}

// waiting returns a notice that is there already; EAGAIN when there is none.
func (s *socket) waiting() (n notice, err error) {
	controlled := s.raw.Control(func(fd uintptr) {
		for n, err = take(int(fd)); errors.Is(err, errForeign); n, err = take(int(fd)) {
		}
	})
	return n, errors.Join(controlled, err)
}

var errForeign = errors.New("not a message of the kernel's proc connector")

func take(fd int) (notice, error) {
	var buffer [256]byte
	size, from, err := unix.Recvfrom(fd, buffer[:], 0)
	for errors.Is(err, unix.EINTR) {
		size, from, err = unix.Recvfrom(fd, buffer[:], 0)
	}
	if err != nil {
		return notice{}, err
	}
	sender, ok := from.(*unix.SockaddrNetlink)
	if !ok || sender.Pid != 0 {
		return notice{}, errForeign
	}
	n, ok := parse(buffer[:size])
	if !ok {
		return n, errForeign
	}
	return n, nil
}

// wake makes receive return, at once and from now on.
func (s *socket) wake() { _ = s.file.SetReadDeadline(time.Unix(1, 0)) }

// sleep makes receive wait again.
func (s *socket) sleep() error { return s.file.SetReadDeadline(time.Time{}) }

func (s *socket) close() error {
	return errors.Join(s.send(opIgnore), s.file.Close())
}
