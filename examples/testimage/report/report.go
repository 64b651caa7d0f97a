// Package report is what the test images' program says about its own process.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Report describes one process, as it sees itself.
type Report struct {
	Env    []Entry `json:"env"` // as the kernel gave it, in order, duplicates kept
	UID    int     `json:"uid"`
	GID    int     `json:"gid"`
	Groups []int   `json:"groups"` // supplementary, ascending
	CapEff string  `json:"capEff"` // hexadecimal, as in /proc/self/status
	Cwd    string  `json:"cwd"`
	Pid    int     `json:"pid"`
	Parent int     `json:"parent"`
	// StartTicks is field 22 of /proc/self/stat, by which the machine knows the process where its number is another.
	StartTicks uint64   `json:"startTicks"`
	Args       []string `json:"args"`
	Host       string   `json:"host"`
	// LoginUID and AuditSession are the kernel's mark of a login session, [NoSession] where the process has none, or the
	// kernel keeps none.
	LoginUID     uint32 `json:"loginUID"`
	AuditSession uint32 `json:"auditSession"`
}

// NoSession is what the kernel says of a process in no login session.
const NoSession = 1<<32 - 1

// Entry is one environment string. Values are bytes, because an environment need not be UTF-8.
type Entry struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// Self describes the calling process.
func Self() (Report, error) {
	r := Report{UID: os.Getuid(), GID: os.Getgid(), Pid: os.Getpid(), Parent: os.Getppid(), Args: os.Args}
	var err error
	if r.Env, err = environ(); err != nil {
		return r, err
	}
	if r.Groups, err = os.Getgroups(); err != nil {
		return r, err
	}
	slices.Sort(r.Groups)
	if r.Cwd, err = os.Getwd(); err != nil {
		return r, err
	}
	if r.Host, err = os.Hostname(); err != nil {
		return r, err
	}
	if r.StartTicks, err = startTicks(); err != nil {
		return r, err
	}
	if r.LoginUID, err = mark("loginuid"); err != nil {
		return r, err
	}
	if r.AuditSession, err = mark("sessionid"); err != nil {
		return r, err
	}
	r.CapEff, err = statusField("CapEff")
	return r, err
}

func mark(file string) (uint32, error) {
	b, err := os.ReadFile("/proc/self/" + file)
	if errors.Is(err, fs.ErrNotExist) {
		return NoSession, nil // a kernel without auditing
	}
	if err != nil {
		return NoSession, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
	return uint32(n), err
}

// environ asks the kernel: Go's own os.Environ hides duplicates.
func environ() ([]Entry, error) {
	b, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return nil, err
	}
	var out []Entry
	for s := range strings.SplitSeq(strings.TrimSuffix(string(b), "\x00"), "\x00") {
		if s == "" {
			continue
		}
		name, value, _ := strings.Cut(s, "=")
		out = append(out, Entry{name, []byte(value)})
	}
	return out, nil
}

func startTicks() (uint64, error) {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	// Field 2 is in parentheses and may hold any character.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/self/stat has %d fields", len(fields)+2)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func statusField(name string) (string, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("/proc/self/status has no %s", name)
}

// Parse reads a report; what follows it, such as other output, is ignored.
func Parse(output []byte) (Report, error) {
	var r Report
	if err := json.NewDecoder(strings.NewReader(string(output))).Decode(&r); err != nil {
		return r, fmt.Errorf("no report in %q: %w", output[:min(len(output), 200)], err)
	}
	return r, nil
}

// Get returns the value of the first entry with the name, as most programs would see it, and whether there is one.
func (r Report) Get(name string) (string, bool) {
	for _, e := range r.Env {
		if e.Name == name {
			return string(e.Value), true
		}
	}
	return "", false
}
