// Package pids has the machine give out a process's number again, which would take it hours by itself. It needs root in
// the machine's first PID namespace.
package pids

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// last has the number that the machine gave out last.
const last = "/proc/sys/kernel/ns_last_pid"

// Newest returns the number that the machine gave out last.
func Newest() (int, error) {
	text, err := os.ReadFile(last)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// Rewind makes the machine give out the numbers above this one again, as they are free.
func Rewind(to int) error {
	return os.WriteFile(last, []byte(strconv.Itoa(to)), 0)
}

// Recycle makes the machine give out these numbers again and again, as they are free, until stop is called, which returns
// what went wrong.
func Recycle(numbers []int) (stop func() error) {
	ended, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			if err := Rewind(numbers[i%len(numbers)] - 1); err != nil {
				failed <- err
				return
			}
			select {
			case <-ended:
				failed <- nil
				return
			case <-tick.C:
			}
		}
	}()
	return func() error { close(ended); return <-failed }
}

// In returns the processes of a container by PID, with their command lines, whose words are apart by spaces. Zombies,
// which have none, are left out.
func In(containerID string) (map[int]string, error) {
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	found := map[int]string{}
	for _, file := range groups {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(containerID)) {
			continue // it ended, or is elsewhere
		}
		dir := filepath.Dir(file)
		command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if pid, bad := strconv.Atoi(filepath.Base(dir)); err == nil && bad == nil && len(command) > 0 {
			found[pid] = strings.Join(strings.Split(strings.TrimSuffix(string(command), "\x00"), "\x00"), " ")
		}
	}
	return found, nil
}
