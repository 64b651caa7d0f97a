package agent

import (
	"cmp"
	"time"
)

// Defaults of Options.
const (
	// DefaultHold is how long an event waits for its session's record.
	DefaultHold = 2 * time.Second
	// DefaultMaxSessions is how many marks are known at once, of sessions and of those that no record has.
	DefaultMaxSessions = 16 << 10
	// DefaultMaxProcesses is how many live processes are known at once.
	DefaultMaxProcesses = 64 << 10
	// DefaultMaxHeldBytes bounds the events that wait for a record.
	DefaultMaxHeldBytes = 2 << 20 // 2 MiB
)

// Linger is how long a session is known after its end and that of its last process, from when the Tracker heard of
// them.
const Linger = time.Minute

// Options tune a Tracker. The zero value works, for a node without a name.
type Options struct {
	// Node is the node's name, BootID the boot's: /proc/sys/kernel/random/boot_id.
	Node, BootID string
	// Boot is the wall clock's time of the machine's boot.
	Boot time.Time
	// MountNS is the mount namespace of the node's first process, in which a runtime is whose own processes nobody saw;
	// 0 when unknown.
	MountNS uint32
	// MinLoginUID and MaxLoginUID are the range of the marks; both 0 means the constants of that name. A mark outside of
	// it is not reported as forged.
	MinLoginUID, MaxLoginUID uint32
	// Hold is how long an event of a mark without a record waits for it; 0 means DefaultHold.
	Hold time.Duration
	// Args says how arguments are told.
	Args ArgsPolicy
	// Container tells the container and pod of a cgroup; nil knows none.
	Container func(cgroupID uint64, path string) Container
	// MaxSessions, MaxProcesses and MaxHeldBytes bound the state; 0 means the defaults.
	MaxSessions, MaxProcesses, MaxHeldBytes int
}

func (o Options) withDefaults() Options {
	if o.MinLoginUID == 0 && o.MaxLoginUID == 0 {
		o.MinLoginUID, o.MaxLoginUID = MinLoginUID, MaxLoginUID
	}
	if o.Container == nil {
		o.Container = func(uint64, string) Container { return Container{} }
	}
	o.Hold = cmp.Or(o.Hold, DefaultHold)
	o.MaxSessions = cmp.Or(o.MaxSessions, DefaultMaxSessions)
	o.MaxProcesses = cmp.Or(o.MaxProcesses, DefaultMaxProcesses)
	o.MaxHeldBytes = cmp.Or(o.MaxHeldBytes, DefaultMaxHeldBytes)
	return o
}

// Container is where a process runs. The zero value is unknown.
type Container struct {
	// Known says that the cgroup was found. Without an ID it is one of the host.
	Known bool
	// ID is the CRI container ID, without a scheme.
	ID string
	// PodUID is from the cgroup's path; Namespace, Pod and Name are Kubernetes names, where something tells them.
	PodUID, Namespace, Pod, Name string
}
