package proc

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unique"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/redact"
)

// Bounds of what is read of a process.
const (
	// DefaultArgBytes and DefaultEnvBytes are how much of the arguments and of the environment is read.
	DefaultArgBytes = 4 << 10  // 4 KiB
	DefaultEnvBytes = 32 << 10 // 32 KiB
	maxFileBytes    = 16 << 10 // 16 KiB, more than any other file that is read has
	maxLinkBytes    = unix.PathMax
)

// Tick is the unit of start times in /proc.
const Tick = 10 * time.Millisecond

// Unset is what the kernel shows of a process in no login session, as its login UID and as its session.
const Unset = 1<<32 - 1

// Options say what is read. The zero value is /proc, the agent's range of login UIDs and the bounds' defaults.
type Options struct {
	// Root is the directory; empty is /proc.
	Root string
	// MinLoginUID and MaxLoginUID are the range of the marks; both 0 are the agent's.
	MinLoginUID, MaxLoginUID uint32
	// ArgBytes and EnvBytes bound what is read of a program; 0 means the defaults.
	ArgBytes, EnvBytes int
}

// FS reads processes. It is for one goroutine.
type FS struct {
	o               Options
	file, args, env []byte
}

// New returns an FS.
func New(o Options) *FS {
	if o.Root == "" {
		o.Root = "/proc"
	}
	if o.MinLoginUID == 0 && o.MaxLoginUID == 0 {
		o.MinLoginUID, o.MaxLoginUID = agent.MinLoginUID, agent.MaxLoginUID
	}
	if o.ArgBytes <= 0 {
		o.ArgBytes = DefaultArgBytes
	}
	if o.EnvBytes <= 0 {
		o.EnvBytes = DefaultEnvBytes
	}
	return &FS{o: o, file: make([]byte, maxFileBytes), args: make([]byte, o.ArgBytes+1), env: make([]byte, o.EnvBytes)}
}

// Process is a process's directory. While it is open its files are of that process, or cannot be read any more, whoever
// has the PID by then.
type Process struct {
	fs  *FS
	dir int
	pid int
}

// Open returns the process that has the PID now. The caller closes it. Without one the error is os.ErrNotExist.
func (fs *FS) Open(pid int) (Process, error) {
	name := filepath.Join(fs.o.Root, strconv.Itoa(pid))
	dir, err := openat(unix.AT_FDCWD, name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return Process{}, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return Process{fs, dir, pid}, nil
}

// Close closes the directory.
func (p Process) Close() { _ = unix.Close(p.dir) }

// Walk calls f with each process that has a mark of the range. What ends meanwhile is passed over. The process is
// closed when f returns.
func (fs *FS) Walk(f func(Process)) error {
	root, err := os.Open(fs.o.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := root.Readdirnames(-1)
	for _, name := range names {
		pid, bad := strconv.Atoi(name)
		if bad != nil {
			continue
		}
		if p, gone := fs.Open(pid); gone == nil {
			if marked, err := p.Marked(); marked && err == nil {
				f(p)
			}
			p.Close()
		}
	}
	return err
}

// Marked reports whether the process has a mark of the range. The error says that it is gone.
func (p Process) Marked() (bool, error) {
	login, err := p.number("loginuid")
	return err == nil && p.fs.marks(login), err
}

func (fs *FS) marks(login uint32) bool { return login >= fs.o.MinLoginUID && login <= fs.o.MaxLoginUID }

// Stat is what /proc/PID/stat says of a process.
type Stat struct {
	// Start is field 22.
	Start time.Duration
	// Threads is field 20: those that are there, and a first one that ended before others.
	Threads int
	// Ended says that the first thread has ended: field 3 is Z or X.
	Ended bool
	// Exiting says that it is about to, and may show another control group: the kernel's PF_EXITING in field 9.
	Exiting bool
}

const exiting = 0x4

// Stat returns an error when the process is gone.
func (p Process) Stat() (s Stat, err error) {
	text, err := p.read("stat", p.fs.file)
	if err != nil {
		return s, err
	}
	return parseStat(text)
}

var errStat = errors.New("stat has another form")

func parseStat(text []byte) (s Stat, err error) {
	// Field 2 is in parentheses and may hold any character.
	var fields [20][]byte
	n := 0
	for field := range bytes.FieldsSeq(text[bytes.LastIndexByte(text, ')')+1:]) {
		if fields[n] = field; n == len(fields)-1 {
			break
		}
		n++
	}
	if fields[19] == nil {
		return s, errStat
	}
	flags, bad := strconv.ParseUint(string(fields[6]), 10, 64)
	threads, wrong := strconv.Atoi(string(fields[17]))
	ticks, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if bad != nil || wrong != nil || err != nil || ticks < 0 || ticks > int64(1<<63-1)/int64(Tick) {
		return s, errStat
	}
	return Stat{
		Start: time.Duration(ticks) * Tick, Threads: threads,
		Ended: fields[0][0] == 'Z' || fields[0][0] == 'X', Exiting: flags&exiting != 0,
	}, nil
}

// ErrUnmarked is what Identify returns for a process without a mark of the range.
var ErrUnmarked = errors.New("not of a marked session")

// Identify fills in what the process is: its start, mark, control group, namespaces and users. What may not be read is
// left as it is; of one that is about to exit the control group is empty. The error is [ErrUnmarked], or says that it
// is gone.
func (p Process) Identify(o *agent.Observation) (err error) {
	login, err := p.number("loginuid")
	if err != nil {
		return err
	}
	if !p.fs.marks(login) {
		return ErrUnmarked
	}
	o.LoginUID = login
	if o.SessionID, err = p.number("sessionid"); err != nil {
		return err
	}
	if text, err := p.read("cgroup", p.fs.file); err == nil {
		o.Cgroup = cgroup(text)
	}
	if text, err := p.read("status", p.fs.file); err == nil {
		status(text, o)
	}
	o.MountNS, o.PIDNS = p.namespace("ns/mnt"), p.namespace("ns/pid")
	// Asked last: the process may have begun to end before what else was read.
	s, err := p.Stat()
	if err != nil {
		return err
	}
	if s.Exiting {
		o.Cgroup = ""
	}
	o.PID, o.Start = p.pid, s.Start
	return nil
}

// Program fills in what the process runs. What may not be read is empty. The bytes are the FS's until the next call.
func (p Process) Program(o *agent.Observation) {
	o.File = p.link("exe")
	args, _ := p.read("cmdline", p.fs.args)
	if o.ArgsCut = len(args) > p.fs.o.ArgBytes; o.ArgsCut {
		args = args[:p.fs.o.ArgBytes]
	}
	env, _ := p.read("environ", p.fs.env)
	o.Args, o.Env = redact.NewBytes(args), redact.NewBytes(env)
}

// cgroup returns the path in the pids hierarchy, else in that of memory, else in cgroup v2.
func cgroup(text []byte) string {
	best, found := 0, []byte(nil)
	for line := range bytes.Lines(text) {
		_, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{':'})
		controllers, path, ok := bytes.Cut(rest, []byte{':'})
		rank := 0
		switch {
		case !ok:
		case len(controllers) == 0:
			rank = 1
		default:
			for controller := range bytes.SplitSeq(controllers, []byte{','}) {
				switch string(controller) {
				case "memory":
					rank = 2
				case "pids":
					rank = 3
				}
			}
		}
		if rank > best {
			best, found = rank, path
		}
	}
	// Many processes share few groups.
	return unique.Make(string(found)).Value()
}

func status(text []byte, o *agent.Observation) {
	for line := range bytes.Lines(text) {
		key, value, _ := bytes.Cut(line, []byte{':'})
		switch string(key) {
		case "Uid":
			pair(value, &o.UID, &o.EUID)
		case "Gid":
			pair(value, &o.GID, &o.EGID)
		case "NSpid":
			value = bytes.TrimSpace(value)
			o.InnerPID, _ = strconv.Atoi(string(value[bytes.LastIndexAny(value, " \t")+1:]))
		}
	}
}

// pair reads the first two of some numbers.
func pair(text []byte, to ...*uint32) {
	for field := range bytes.FieldsSeq(text) {
		if len(to) == 0 {
			return
		}
		if n, err := strconv.ParseUint(string(field), 10, 32); err == nil {
			*to[0] = uint32(n)
		}
		to = to[1:]
	}
}

func (p Process) namespace(name string) uint32 {
	target := p.link(name)
	begin := strings.IndexByte(target, '[')
	if begin < 0 || !strings.HasSuffix(target, "]") {
		return 0
	}
	n, _ := strconv.ParseUint(target[begin+1:len(target)-1], 10, 32)
	return uint32(n)
}

func (p Process) number(name string) (uint32, error) {
	text, err := p.read(name, p.fs.file[:64])
	if err != nil {
		return Unset, err
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 32)
	return uint32(n), err
}

func (p Process) link(name string) string {
	var target [maxLinkBytes]byte
	n, err := unix.Readlinkat(p.dir, name, target[:])
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Readlinkat(p.dir, name, target[:])
	}
	if err != nil {
		return ""
	}
	return string(target[:n])
}

// read fills the buffer from the file's begin.
func (p Process) read(name string, buffer []byte) ([]byte, error) {
	fd, err := openat(p.dir, name, unix.O_RDONLY)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path.Join(strconv.Itoa(p.pid), name), Err: err}
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buffer) {
		more, err := unix.Read(fd, buffer[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path.Join(strconv.Itoa(p.pid), name), Err: err}
		}
		if more == 0 {
			break
		}
		n += more
	}
	return buffer[:n], nil
}

func openat(dir int, name string, flags int) (fd int, err error) {
	for {
		if fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0); !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
