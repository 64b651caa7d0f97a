package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/examples/soak"
	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
)

// How long many sessions are held open, and how many short ones come one after the other.
var (
	manySessions  = 100
	heldFor       = soak.Time(5*time.Second, time.Minute)
	shortSessions = soak.Size(150, 1000)
)

// TestManySessions holds many sessions open at once and runs many short ones.
func TestManySessions(t *testing.T) {
	t.Parallel()
	c := own(t, stack.Options{ExecGates: true, Nodes: []stack.Node{{Name: ours}}})
	alice := newCaller(t, c.alice)
	if _, err := alice.report(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	t.Run(fmt.Sprintf("EXA-23 %d sessions at once, each with its own ID, hold for %v", manySessions, heldFor), func(t *testing.T) {
		sessions := holdMany(t, alice, manySessions)
		hold := time.NewTimer(heldFor)
		defer hold.Stop()
		<-hold.C
		for _, s := range sessions {
			if !s.open() {
				t.Fatal("a session ended by itself")
			}
		}
		for _, s := range sessions {
			if err := s.close(t); err != nil {
				t.Errorf("session ended with %v", err)
			}
		}
	})
	t.Run(fmt.Sprintf("STK-1 %d short sessions leave nothing", shortSessions), func(t *testing.T) {
		components := map[string]*process.Process{"API server": c.APIServer(), "kubelet": c.Kubelet(ours), "runtime": c.Runtime(ours)}
		before := map[string]int{}
		for name, p := range components {
			before[name] = openFiles(t, p.PID())
		}
		processes := processesOf(t, c.dir)
		for range shortSessions {
			if _, err := alice.report(t.Context(), ours); err != nil {
				t.Fatal(err)
			}
		}
		for name, p := range components {
			// A few kept-alive connections come and go; a leak would show one for each session.
			await(t, name+" to close its files", func() bool { return openFiles(t, p.PID()) <= before[name]+20 })
		}
		await(t, "the sessions' processes to be gone", func() bool { return processesOf(t, c.dir) <= processes })
	})
}

func openFiles(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// processesOf counts the processes that name the cluster's directory, runc and the
// containers' monitors among them.
func processesOf(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if command, err := os.ReadFile(file); err == nil && strings.Contains(string(command), dir) {
			n++
		}
	}
	return n
}
