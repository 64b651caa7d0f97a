package message

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// Process describes one process as the kernel does in /proc.
type Process struct {
	// Env is the environment that the process was started with, in order, duplicates kept. Values are any bytes; an
	// entry without "=" is a name with an empty value.
	Env []envprecedence.Entry
	// EnvError is why there is no Env: the kernel hides it from less privileged processes.
	EnvError string
	// UID and GID are the effective ones.
	UID int64
	GID int64
	// Groups are the supplementary groups, ascending, duplicates kept.
	Groups []int64
	// CapEff is the effective capabilities, in hexadecimal.
	CapEff string
}

// Values returns the value of every entry with the name, in order; nil for none.
func (p Process) Values(name string) (values []string) {
	for _, v := range p.Env {
		if v.Name == name {
			values = append(values, v.Value.Reveal())
		}
	}
	return values
}

// read describes the process whose directory in /proc is given.
func read(dir string) (p Process, err error) {
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return p, err
	}
	if p, err = parseStatus(status); err != nil {
		return p, fmt.Errorf("%s: %w", filepath.Join(dir, "status"), err)
	}
	environ, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		p.EnvError = err.Error()
	}
	p.Env = parseEnviron(environ)
	return p, nil
}

func parseEnviron(b []byte) (env []envprecedence.Entry) {
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if len(entry) > 0 {
			name, value, _ := bytes.Cut(entry, []byte("="))
			env = append(env, envprecedence.NewEntry(string(name), string(value)))
		}
	}
	return env
}

func parseStatus(b []byte) (p Process, err error) {
	fields := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		fields[name] = strings.Fields(rest)
	}
	if p.UID, err = effective(fields["Uid"]); err != nil {
		return p, fmt.Errorf("effective user: %w", err)
	}
	if p.GID, err = effective(fields["Gid"]); err != nil {
		return p, fmt.Errorf("effective group: %w", err)
	}
	for _, g := range fields["Groups"] {
		n, err := strconv.ParseInt(g, 10, 64)
		if err != nil {
			return p, fmt.Errorf("supplementary groups: %w", err)
		}
		p.Groups = append(p.Groups, n)
	}
	slices.Sort(p.Groups)
	p.CapEff = strings.Join(fields["CapEff"], " ")
	return p, nil
}

// effective returns the second of the four IDs in /proc: real, effective, saved, file system.
func effective(ids []string) (int64, error) {
	if len(ids) < 2 {
		return 0, fmt.Errorf("%d numbers, want 4", len(ids))
	}
	return strconv.ParseInt(ids[1], 10, 64)
}
