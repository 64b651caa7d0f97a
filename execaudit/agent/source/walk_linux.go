package source

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/proc"
	"github.com/lanyard-dev/lanyard/redact"
)

// walk returns the marked processes that are there, oldest first.
func (o Options) walk() ([]agent.Observation, error) {
	var found []agent.Observation
	fs := proc.New(proc.Options{Root: o.Proc, MinLoginUID: o.Tracker.MinLoginUID, MaxLoginUID: o.Tracker.MaxLoginUID})
	err := fs.Walk(func(p proc.Process) {
		seen := agent.Observation{Kind: agent.KindExec, Origin: agent.OriginWalk, At: sinceBoot()}
		if p.Identify(&seen) != nil {
			return
		}
		p.Program(&seen)
		seen.Args, seen.Env = redact.NewBytes(bytes.Clone(seen.Args.Reveal())),
			redact.NewBytes(bytes.Clone(seen.Env.Reveal()))
		found = append(found, seen)
	})
	slices.SortFunc(found, func(a, b agent.Observation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
	return found, err
}

// fate is what became of a process.
type fate int

const (
	fateAlive fate = iota
	fateGone
	fateLeft // with a mark outside the range
)

// fates returns what became of each of some processes.
func (o Options) fates(all []agent.Live) []fate {
	fs := proc.New(proc.Options{Root: o.Proc, MinLoginUID: o.Tracker.MinLoginUID, MaxLoginUID: o.Tracker.MaxLoginUID})
	fates := make([]fate, len(all))
	for i, live := range all {
		fates[i] = fateOf(fs, live)
	}
	return fates
}

func fateOf(fs *proc.FS, live agent.Live) fate {
	p, err := fs.Open(live.PID)
	if err != nil {
		return fateGone
	}
	defer p.Close()
	marked, err := p.Marked()
	s, gone := p.Stat() // asked last: it is the same process before
	switch {
	case err != nil, gone != nil, s.Start/proc.Tick != live.Start/proc.Tick:
		return fateGone
	case !marked:
		return fateLeft
	}
	return fateAlive
}

// sinceBoot returns how long ago the boot was, suspension included.
func sinceBoot() time.Duration {
	var since unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &since) // the clock is there since Linux 2.6.39
	return time.Duration(since.Nano())
}

// hostMountNS returns the mount namespace of the node's first process, 0 when it cannot be read.
func hostMountNS(root string) uint32 {
	link, err := os.Readlink(filepath.Join(root, "1/ns/mnt"))
	if err != nil {
		return 0
	}
	_, digits, _ := strings.Cut(strings.TrimSuffix(link, "]"), "[")
	n, _ := strconv.ParseUint(digits, 10, 32)
	return uint32(n)
}
