package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Process is a process of this machine as the kernel tells it.
type Process struct {
	PID int
	// Session is its audit session, and LoginUID its login UID; [report.NoSession] where it has none.
	Session, LoginUID uint32
	Args              []string
	// Env is empty where it cannot be read, as that of another sandbox's init.
	Env []string
}

// Processes returns the processes of this machine for which keep is true, by their number. One that ends meanwhile is
// not among them. A nil keep is all.
func Processes(keep func(Process) bool) ([]Process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var out []Process
	for _, dir := range dirs {
		p, err := inspect(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		case err != nil:
			return nil, err
		case keep == nil || keep(p):
			out = append(out, p)
		}
	}
	return out, nil
}

func inspect(dir string) (p Process, err error) {
	if p.PID, err = strconv.Atoi(filepath.Base(dir)); err != nil {
		return p, err
	}
	for file, to := range map[string]*uint32{"sessionid": &p.Session, "loginuid": &p.LoginUID} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return p, err
		}
		n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
		if err != nil {
			return p, fmt.Errorf("%s of process %d: %w", file, p.PID, err)
		}
		*to = uint32(n)
	}
	for file, to := range map[string]*[]string{"cmdline": &p.Args, "environ": &p.Env} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return p, err
		}
		for s := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
			if len(text) > 0 {
				*to = append(*to, string(s))
			}
		}
	}
	return p, nil
}

// inPIDNamespaceOf keeps the processes that are in the PID namespace of a process.
func inPIDNamespaceOf(pid int) (func(Process) bool, error) {
	want, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		return nil, err
	}
	return func(p Process) bool {
		got, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", p.PID))
		return err == nil && got == want
	}, nil
}
