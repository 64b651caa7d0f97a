// Package pids has the machine give out a process's number again, which would take it hours by itself. It needs root in
// the machine's first PID namespace.
package pids

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// Recycle makes the machine give out these numbers again and again, as they are free, until stop is called, which
// returns what went wrong.
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

// Ending returns those of a container whose command ends so.
func Ending(containerID, suffix string) (map[int]string, error) {
	found, err := In(containerID)
	maps.DeleteFunc(found, func(_ int, command string) bool { return !strings.HasSuffix(command, suffix) })
	return found, err
}

// Holding is how the command of a process begins that lanyard-reporter started to hold.
const Holding = "/proc/self/exe hold "

// How many children Take tries, and how often.
const (
	batches  = 10
	children = 20
)

// Take has a process of the container fork until one of its children has a number of those that are gone, and returns
// that. The process starts a child for each line that is said to it, as lanyard-reporter's each does. The children's
// commands end with the name. Others on the machine may be faster, or keep a number for long: so there are many
// children, and many numbers.
func Take(ctx context.Context, containerID string, gone []int, name string, say func(lines string) error) (int, error) {
	for batch := range batches {
		suffix, lines := fmt.Sprintf("try-%d,%s", batch, name), ""
		for n := range children {
			lines += fmt.Sprintf("%d-%s\n", n, suffix)
		}
		stop := Recycle(gone)
		if err := say(lines); err != nil {
			return 0, err
		}
		found, err := await(ctx, containerID, suffix)
		if stopped := stop(); err != nil || stopped != nil {
			return 0, fmt.Errorf("children with a PID of those that are gone: %w", cmp.Or(err, stopped))
		}
		for pid := range found {
			if slices.Contains(gone, pid) {
				return pid, nil
			}
		}
	}
	return 0, fmt.Errorf("no child has one of the PIDs %v", gone)
}

// await waits until all children of a batch hold.
func await(ctx context.Context, containerID, suffix string) (map[int]string, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		found, err := Ending(containerID, suffix)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(found, func(_ int, command string) bool { return !strings.HasPrefix(command, Holding) })
		if len(found) == children {
			return found, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d run: %w", len(found), children, ctx.Err())
		case <-tick.C:
		}
	}
}
