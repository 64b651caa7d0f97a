package agent

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Options tune a Tracker. The zero value works, for a node without a name.
type Options struct {
	// Node is the node's name, BootID the boot's: /proc/sys/kernel/random/boot_id.
	Node, BootID string
	// Boot is the wall clock's time of the machine's boot.
	Boot time.Time
	// Hold is how long an event of a mark without a record waits for it; 0 means DefaultHold.
	Hold time.Duration
	// Args says how arguments are told.
	Args ArgsPolicy
	// Container tells the container and pod of a cgroup; nil knows none.
	Container func(cgroupID uint64, path string) Container
	// MaxSessions and MaxProcesses bound the state; 0 means the defaults.
	MaxSessions, MaxProcesses int
}

// DefaultHold is how long an event waits for its session's record.
const DefaultHold = 2 * time.Second

// Container is where a process runs. Zero is the host, or unknown.
type Container struct {
	ID, Namespace, Pod, Name string
}

// ArgsPolicy says how arguments are told, since they can hold secrets.
type ArgsPolicy struct{}

// Tracker puts observations and records together. It is for one goroutine.
type Tracker struct{}

// New returns a Tracker that hands out each event and each notice, in order. What they are given is theirs until they return.
func New(o Options, event func(*Event), notice func(*Notice)) *Tracker { panic("to come") }

// Observe takes in one observation.
func (t *Tracker) Observe(o *Observation) { panic("to come") }

// AddRecord takes in one record of the node's journal, or one that still waits for it.
func (t *Tracker) AddRecord(r *journal.Record) { panic("to come") }

// Lost tells that observations are missing: n, or -1 for an unknown number.
func (t *Tracker) Lost(n int64, since, now time.Time, reason string) { panic("to come") }

// Advance tells that it is now: what waited for a record long enough is given.
func (t *Tracker) Advance(now time.Time) { panic("to come") }

var _ = attribution.Event{}
