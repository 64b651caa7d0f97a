package monitor

import (
	"errors"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Console is the socket to which the low-level runtime sends the terminal that it made for a process.
type Console struct {
	dir  string
	open *os.File // the directory; other processes reach the socket through its descriptor
	l    *net.UnixListener
}

// ListenConsole opens a console socket in a new directory under dir, which need not be short.
func ListenConsole(dir string) (*Console, error) {
	dir, err := os.MkdirTemp(dir, "console-")
	if err != nil {
		return nil, err
	}
	open, err := os.Open(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &Console{dir: dir, open: open}
	c.l, err = net.ListenUnix("unix", &net.UnixAddr{Name: c.Path(), Net: "unix"})
	if err != nil {
		return nil, errors.Join(err, open.Close(), os.RemoveAll(dir))
	}
	c.l.SetUnlinkOnClose(false) // the directory goes as a whole
	return c, nil
}

// Path is what `--console-socket` is given; it holds while the console is open. It names the directory by descriptor,
// because the path of a socket may have 108 bytes at most.
func (c *Console) Path() string {
	return "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + strconv.Itoa(int(c.open.Fd())) + "/s"
}

// Close removes the socket and its directory.
func (c *Console) Close() error {
	return errors.Join(c.l.Close(), c.open.Close(), os.RemoveAll(c.dir))
}

// Terminal returns the terminal that was sent. It is called after the low-level runtime has ended, so that the terminal
// is there or never comes; the wait is a guard only.
func (c *Console) Terminal() (*os.File, error) {
	if err := c.l.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return nil, err
	}
	conn, err := c.l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	buf, oob := make([]byte, 4<<10), make([]byte, unix.CmsgSpace(4))
	_, oobn, _, _, err := conn.ReadMsgUnix(buf, oob)
	if err != nil {
		return nil, err
	}
	files, err := rights(oob[:oobn])
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, errors.New("no terminal came through the console socket")
	}
	return files[0], nil
}
