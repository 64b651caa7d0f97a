package procwatch

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// Bounds of what is read of a process.
const (
	maxEnvironBytes = 8 << 20 // 8 MiB, more than the kernel lets a program have
	maxArgvBytes    = 4 << 10 // 4 KiB
	maxStatBytes    = 4 << 10 // 4 KiB
)

// entry is a process's directory in /proc. While it is open its files are of that process, or cannot be read any more,
// whoever has the PID by then.
type entry struct{ *os.Root }

func entryOf(pid int) (entry, error) {
	dir, err := os.OpenRoot(filepath.Join("/proc", strconv.Itoa(pid)))
	return entry{dir}, err
}

func (e entry) read(name string, limit int64) ([]byte, error) {
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// exiting is the kernel's PF_EXITING in field 9 of /proc/PID/stat. A process that ends may show another control group.
const exiting = 0x4

// life is what /proc/PID/stat says of a process.
type life struct {
	ticks   uint64 // field 22
	exiting bool
}

// lifeOf returns false when the process is gone.
func lifeOf(pid int) (l life, ok bool) {
	e, err := entryOf(pid)
	if err != nil {
		return l, false
	}
	defer e.Close()
	return e.life()
}

func (e entry) life() (l life, ok bool) {
	b, err := e.read("stat", maxStatBytes)
	if err != nil {
		return l, false
	}
	// Field 2 is in parentheses and may hold any character.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return l, false
	}
	flags, bad := strconv.ParseUint(string(fields[6]), 10, 64)
	ticks, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return life{ticks, flags&exiting != 0}, bad == nil && err == nil
}

// containerName finds the ID that runtimes put into the name of a container's control group.
var containerName = regexp.MustCompile(`(?:^|[^0-9a-f])([0-9a-f]{64})(?:[^0-9a-f]|$)`)

// container returns the CRI ID of the process's container, "" on the host; false when the process ends or is gone, or
// is not the one that started then.
func container(pid int, ticks uint64) (string, bool) {
	e, err := entryOf(pid)
	if err != nil {
		return "", false
	}
	defer e.Close()
	b, err := e.read("cgroup", maxStatBytes)
	// Asked after the reading, because the process may have begun to end before it.
	now, ok := e.life()
	return containerIn(string(b)), err == nil && ok && !now.exiting && now.ticks == ticks
}

// containerIn takes the uppermost ID of a path: whoever is in a container may make groups below its own only.
func containerIn(cgroups string) string {
	for line := range strings.Lines(cgroups) {
		_, path, _ := strings.Cut(strings.TrimSpace(line), ":/")
		for element := range strings.SplitSeq(path, "/") {
			if found := containerName.FindStringSubmatch(element); found != nil {
				return found[1]
			}
		}
	}
	return ""
}

// claims are what a process's environment says of the session that it belongs to.
type claims struct {
	auditID     string
	execSession string // of a bridge
}

// program returns what the environment of the process that started then claims, and its command line; what cannot be
// read is empty.
func program(pid int, ticks uint64) (c claims, argv []string) {
	e, err := entryOf(pid)
	if err != nil {
		return c, nil
	}
	defer e.Close()
	if now, ok := e.life(); !ok || now.ticks != ticks {
		return c, nil
	}
	return e.claims(), e.argv()
}

func (e entry) claims() (c claims) {
	b, err := e.read("environ", maxEnvironBytes)
	if err != nil {
		return c
	}
	return claims{auditID: first(b, execaudit.AuditIDName), execSession: first(b, bridge.SessionName)}
}

// first returns the value of the first entry of the name, as getenv finds it; "" for none.
func first(environ []byte, name string) string {
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(variable, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// mark is the kernel's of a login session. 0 stands for what is not known, or was never set.
type mark struct{ session, login uint32 }

// unset is what the kernel shows of a process in no login session.
const unset = "4294967295"

// markOf returns the mark of the process that started then; false when it is gone, or another has its number.
func markOf(pid int, ticks uint64) (m mark, ok bool) {
	e, err := entryOf(pid)
	if err != nil {
		return m, false
	}
	defer e.Close()
	if now, ok := e.life(); !ok || now.ticks != ticks {
		return m, false
	}
	m.session, ok = e.number("sessionid")
	login, known := e.number("loginuid")
	m.login = login
	return m, ok && known
}

func (e entry) number(name string) (uint32, bool) {
	b, err := e.read(name, maxStatBytes)
	text := strings.TrimSpace(string(b))
	if err != nil || text == unset {
		return 0, err == nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}

func (e entry) argv() []string {
	b, err := e.read("cmdline", maxArgvBytes)
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}
