package monitor

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxPacket bounds one packet, which holds three paths at most; what is large (a process spec) travels as one of them.
const maxPacket = 16 << 10 // 16 KiB

// The operations a monitor knows.
const (
	OpMark   = "mark"   // answers Mark; the next request is the OpExec whose process has it
	OpExec   = "exec"   // three files: the standard streams; answers Started, then Exited
	OpAttach = "attach" // up to three files: stdin to read, stdout and stderr to write; answers Attached; ends with the connection
	OpResize = "resize" // the container's terminal
	OpReopen = "reopen" // the log, after rotation
	OpWait   = "wait"   // answers Exited when the container ended
	OpSettle = "settle" // answers when every exec that was asked for before is over; for a runtime that begins anew
)

// Request is the first packet of a connection, and after OpMark the second.
type Request struct {
	Op      string `json:"op"`
	Process string `json:"process,omitempty"` // exec: file that holds the OCI process
	RawEnv  string `json:"rawEnv,omitempty"`  // exec: as [Spec.RawEnv]
	Session string `json:"session,omitempty"` // exec: under which [WriteSession] keeps the process; empty for not at all
	Console string `json:"console,omitempty"` // exec: socket that receives the terminal; empty without one
	// LoginUID is, for a mark, what the session is found by besides.
	LoginUID uint32 `json:"loginUID,omitempty"`

	Stdin  bool   `json:"stdin,omitempty"` // attach: which of the files are given, in this order
	Stdout bool   `json:"stdout,omitempty"`
	Stderr bool   `json:"stderr,omitempty"`
	Width  uint16 `json:"width,omitempty"`
	Height uint16 `json:"height,omitempty"`
}

// Reply is an answer packet; exactly one field is set, or none to say that it is done.
type Reply struct {
	Error string `json:"error,omitempty"`
	Mark  *Mark  `json:"mark,omitempty"`
	// Attached says, before the answer at the end, that all output from now on goes to the client, too.
	Attached bool     `json:"attached,omitempty"`
	Started  *Started `json:"started,omitempty"`
	Exited   *Exited  `json:"exited,omitempty"`
}

// Mark is the kernel's of an exec session: every process of it has it. It is zero where the kernel gives none.
type Mark struct {
	SessionID uint32 `json:"sessionID,omitempty"` // /proc/PID/sessionid
	LoginUID  uint32 `json:"loginUID,omitempty"`  // /proc/PID/loginuid
}

// Conn carries packets, each a JSON value with files.
type Conn struct{ c *net.UnixConn }

// Listen opens the socket of the container in dir. Paths of sockets are limited to 108 bytes; going through the
// directory's descriptor lifts that limit from the directory's own path.
func Listen(dir string) (*net.UnixListener, error) {
	path, d, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := os.Remove(filepath.Join(dir, socketFile)); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	// The path names a descriptor that is about to be closed; the directory is removed as a whole later.
	l.SetUnlinkOnClose(false)
	return l, nil
}

// Dial connects to the monitor of the container in dir.
func Dial(dir string) (*Conn, error) {
	path, d, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	return &Conn{c}, nil
}

func socketPath(dir string) (string, *os.File, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return "/proc/self/fd/" + strconv.Itoa(fd) + "/" + socketFile, os.NewFile(uintptr(fd), dir), nil
}

// NewConn wraps an accepted connection.
func NewConn(c *net.UnixConn) *Conn { return &Conn{c} }

// Close closes the connection; a monitor takes it as the end of what the connection asked for.
func (c *Conn) Close() error { return c.c.Close() }

// Send writes one packet with files, which stay the caller's.
func (c *Conn) Send(v any, files ...*os.File) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxPacket {
		return fmt.Errorf("packet of %d bytes exceeds %d", len(b), maxPacket)
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	_, _, err = c.c.WriteMsgUnix(b, unix.UnixRights(fds...), nil)
	return err
}

// Receive reads one packet into v and returns the files that came with it. The end of the connection wraps io.EOF.
func (c *Conn) Receive(v any) ([]*os.File, error) {
	buf, oob := make([]byte, maxPacket), make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := c.c.ReadMsgUnix(buf, oob)
	if err != nil {
		return nil, err
	}
	files, err := rights(oob[:oobn])
	if err != nil {
		return nil, err
	}
	return files, json.Unmarshal(buf[:n], v)
}

func rights(oob []byte) ([]*os.File, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			// Non-blocking, so that os.File can time out on it; File.Fd makes it blocking again for a child.
			if err := unix.SetNonblock(fd, true); err != nil {
				return nil, err
			}
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}
