package source

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/redact"
)

// Bounds of what is read of a process.
const (
	maxFileBytes = 4 << 10
	maxArgsBytes = 4 << 10
	maxEnvBytes  = 8 << 10
)

// tick is the unit in which /proc tells when a process started.
const tick = 10 * time.Millisecond

// walk observes the marked processes that are there, oldest first.
func (s *Source) walk() {
	entries, err := os.ReadDir(s.options.Proc)
	if err != nil {
		s.mu.Lock()
		s.tracker.Tell(agent.Notice{Kind: agent.NoticeBlind, Time: s.options.Now(), Reason: "the processes that ran before cannot be read"})
		s.mu.Unlock()
		return
	}
	var found []agent.Observation
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if o, ok := s.process(pid); ok {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b agent.Observation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
	for i := range found {
		s.observe(&found[i], false)
	}
}

// process returns a process of a mark in the range.
func (s *Source) process(pid int) (o agent.Observation, ok bool) {
	dir, err := os.OpenRoot(filepath.Join(s.options.Proc, strconv.Itoa(pid)))
	if err != nil {
		return o, false
	}
	defer dir.Close()
	login, known := number(dir, "loginuid")
	if !known || !s.inRange(login) {
		return o, false
	}
	o = agent.Observation{Kind: agent.KindExec, Origin: agent.OriginWalk, At: sinceBoot(), LoginUID: login}
	o.PID = pid
	o.SessionID, known = number(dir, "sessionid")
	start, alive := started(dir)
	if !known || !alive {
		return o, false
	}
	o.Start = start
	if text, err := read(dir, "cgroup", maxFileBytes); err == nil {
		o.Cgroup = cgroupIn(text, s.cgroups.controller)
	}
	o.MountNS, o.PIDNS = namespaceOf(dir, "ns/mnt"), namespaceOf(dir, "ns/pid")
	if text, err := read(dir, "status", maxFileBytes); err == nil {
		identify(&o, text)
	}
	args, cut := texts(dir, "cmdline", maxArgsBytes)
	env, _ := texts(dir, "environ", maxEnvBytes)
	o.Args, o.Env, o.ArgsCut = redact.NewBytes(args), redact.NewBytes(env), cut
	return o, true
}

func (s *Source) inRange(login uint32) bool {
	low, high := s.options.Tracker.MinLoginUID, s.options.Tracker.MaxLoginUID
	if low == 0 && high == 0 {
		low, high = agent.MinLoginUID, agent.MaxLoginUID
	}
	return low <= login && login <= high
}

func read(dir *os.Root, name string, limit int64) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// texts returns strings that each end in a NUL, and whether there were more.
func texts(dir *os.Root, name string, limit int64) ([]byte, bool) {
	text, err := read(dir, name, limit+1)
	if err != nil {
		return nil, false
	}
	cut := int64(len(text)) > limit
	return text[:min(int64(len(text)), limit)], cut
}

func number(dir *os.Root, name string) (uint32, bool) {
	text, err := read(dir, name, maxFileBytes)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	return uint32(n), err == nil
}

// started returns when a process started; false for one that has ended.
func started(dir *os.Root) (time.Duration, bool) {
	text, err := read(dir, "stat", maxFileBytes)
	if err != nil {
		return 0, false
	}
	// Field 2 is in parentheses and may hold any character.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
		return 0, false
	}
	n, err := strconv.ParseInt(string(fields[19]), 10, 64)
	return time.Duration(n) * tick, err == nil && n > 0
}

// namespaceOf returns the number of a namespace, such as in mnt:[4026531840]; 0 when it cannot be read.
func namespaceOf(dir *os.Root, link string) uint32 {
	text, err := dir.Readlink(link)
	if err != nil {
		return 0
	}
	_, digits, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	n, _ := strconv.ParseUint(digits, 10, 32)
	return uint32(n)
}

// identify reads credentials and the innermost PID from a text of /proc/PID/status.
func identify(o *agent.Observation, status []byte) {
	for line := range bytes.Lines(status) {
		name, rest, _ := strings.Cut(string(line), ":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		last := uint32(0)
		ids := make([]uint32, 0, 4)
		for _, f := range fields {
			n, err := strconv.ParseUint(f, 10, 32)
			if err != nil {
				break
			}
			last = uint32(n)
			ids = append(ids, last)
		}
		switch {
		case name == "Uid" && len(ids) >= 2:
			o.UID, o.EUID = ids[0], ids[1]
		case name == "Gid" && len(ids) >= 2:
			o.GID, o.EGID = ids[0], ids[1]
		case name == "NSpid":
			o.InnerPID = int(last)
		}
	}
}

// hostMountNS returns the mount namespace of the node's first process, 0 when it cannot be read.
func hostMountNS(proc string) uint32 {
	dir, err := os.OpenRoot(filepath.Join(proc, "1"))
	if err != nil {
		return 0
	}
	defer dir.Close()
	return namespaceOf(dir, "ns/mnt")
}
