//go:build linux

package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Unset is the kernel's word for no session and for no login UID.
const Unset = 1<<32 - 1

// FS is a proc file system.
type FS struct {
	// Root is where it is mounted.
	Root string
}

// Task is one process.
type Task struct {
	PID, PPID  int
	StartTicks uint64 // since the machine booted
	Command    string // the program's name, 15 bytes at most
	Zombie     bool
	WaitStatus int    // of a zombie, as wait has it; only with CAP_SYS_PTRACE is it the truth
	Levels     int    // PID namespaces from the one of FS down to the process's
	Cgroup     string // /proc/PID/cgroup; a zombie has left its own
}

// ErrNoProcess: there is no such process, or there is none any more.
var ErrNoProcess = errors.New("no such process")

// BootID returns the ID of the machine's boot.
func (fs FS) BootID() (string, error) {
	text, err := os.ReadFile(filepath.Join(fs.Root, "sys/kernel/random/boot_id"))
	return strings.TrimSpace(string(text)), err
}

// Task reads one process. Its error is [ErrNoProcess], or the system's.
func (fs FS) Task(pid int) (Task, error) {
	stat, err := fs.read(pid, "stat")
	if err != nil {
		return Task{}, err
	}
	t, err := parseStat(stat)
	if err != nil {
		return Task{}, fmt.Errorf("process %d: %w", pid, err)
	}
	status, err := fs.read(pid, "status")
	if err != nil {
		return Task{}, err
	}
	t.Levels = levels(status)
	cgroup, err := fs.read(pid, "cgroup")
	if err != nil {
		return Task{}, err
	}
	t.Cgroup = string(cgroup)
	return t, nil
}

// Identity returns the start of a process, 0 if there is none.
func (fs FS) Identity(pid int) uint64 {
	stat, err := fs.read(pid, "stat")
	if err != nil {
		return 0
	}
	t, err := parseStat(stat)
	if err != nil {
		return 0
	}
	return t.StartTicks
}

// Argv returns the command line of a process as it shows it now: nil of one without, a kernel's or a zombie.
func (fs FS) Argv(pid int) ([]string, error) {
	text, err := fs.read(pid, "cmdline")
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// Mark returns the session ID and the login UID of a process, [Unset] without. Its error is [ErrNoProcess], or the
// system's.
func (fs FS) Mark(pid int) (session, login uint32, err error) {
	for name, into := range map[string]*uint32{"sessionid": &session, "loginuid": &login} {
		text, err := fs.read(pid, name)
		if err != nil {
			return 0, 0, err
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 32)
		if err != nil {
			return 0, 0, fmt.Errorf("process %d: %s is not a number", pid, name)
		}
		*into = uint32(n)
	}
	return session, login, nil
}

func (fs FS) read(pid int, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(fs.Root, strconv.Itoa(pid), name))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil, ErrNoProcess
	}
	return text, err
}

var errStat = errors.New("stat has another form")

// Fields of /proc/PID/stat behind the command, which may hold any byte.
const (
	statState     = 0
	statPPID      = 1
	statStartTime = 19
	statExitCode  = 49
)

func parseStat(text []byte) (Task, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || end < open {
		return Task{}, errStat
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) <= statStartTime {
		return Task{}, errStat
	}
	t := Task{Command: string(text[open+1 : end]), Zombie: fields[statState] == "Z" || fields[statState] == "X"}
	var err error
	number := func(field string, bits int) uint64 {
		n, wrong := strconv.ParseUint(strings.TrimSpace(field), 10, bits)
		if wrong != nil {
			err = errStat
		}
		return n
	}
	t.PID = int(number(string(text[:open]), 32))
	t.PPID = int(number(fields[statPPID], 32))
	t.StartTicks = number(fields[statStartTime], 64)
	if t.Zombie && len(fields) > statExitCode {
		t.WaitStatus = int(number(fields[statExitCode], 32))
	}
	return t, err
}

// levels counts the PIDs of a process, one a namespace. A kernel without namespaces has one.
func levels(status []byte) int {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("NSpid:")); ok {
			return max(1, len(bytes.Fields(rest)))
		}
	}
	return 1
}

// ExitCode returns the exit code of a wait status as runtimes have it: 128 and the signal for a process that one ended.
func ExitCode(waitStatus int) int {
	if signal := waitStatus & 0x7f; signal != 0 {
		return 128 + signal
	}
	return waitStatus >> 8 & 0xff
}
