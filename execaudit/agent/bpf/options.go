package bpf

import (
	"fmt"
	"math/bits"
	"os"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// The defaults and bounds of Options, in bytes.
const (
	DefaultRingBytes = 8 << 20
	DefaultArgBytes  = 4 << 10
	DefaultEnvBytes  = 8 << 10
	// MaxStringBytes bounds ArgBytes and EnvBytes each.
	MaxStringBytes = 64 << 10
	// MaxRingBytes bounds RingBytes.
	MaxRingBytes = 1 << 30
)

// Options say what is loaded. The zero value works, and leaves nothing behind.
type Options struct {
	// PinDir is a directory in a BPF file system. Programs, ring and place stay there, under a directory for their layout,
	// until Remove. If empty, they go when Programs is closed.
	PinDir string
	// RingBytes is the ring's size, a power of two of at least a page; 0 means DefaultRingBytes. A pinned ring keeps its
	// own.
	RingBytes int
	// MinLoginUID and MaxLoginUID are the range of the marks, ends included; both 0 mean agent's.
	MinLoginUID, MaxLoginUID uint32
	// ArgBytes and EnvBytes bound what an exec tells of its arguments and its environment; 0 means the default, -1 none.
	ArgBytes, EnvBytes int
	// Raw loads the programs for raw tracepoints without trying the others.
	Raw bool
}

func (o Options) withDefaults() (Options, error) {
	if o.RingBytes == 0 {
		o.RingBytes = DefaultRingBytes
	}
	page := os.Getpagesize()
	if o.RingBytes < page || o.RingBytes > MaxRingBytes || bits.OnesCount(uint(o.RingBytes)) != 1 {
		return o, fmt.Errorf("ring of %d bytes: not a power of two from %d to %d", o.RingBytes, page, MaxRingBytes)
	}
	if o.MinLoginUID == 0 && o.MaxLoginUID == 0 {
		o.MinLoginUID, o.MaxLoginUID = agent.MinLoginUID, agent.MaxLoginUID
	}
	if o.MinLoginUID > o.MaxLoginUID || o.MaxLoginUID == 1<<32-1 {
		return o, fmt.Errorf("login UIDs from %d to %d: not a range below 4294967295", o.MinLoginUID, o.MaxLoginUID)
	}
	var err error
	if o.ArgBytes, err = stringBytes("arguments", o.ArgBytes, DefaultArgBytes); err != nil {
		return o, err
	}
	o.EnvBytes, err = stringBytes("environment", o.EnvBytes, DefaultEnvBytes)
	return o, err
}

func stringBytes(what string, n, otherwise int) (int, error) {
	switch {
	case n == 0:
		return otherwise, nil
	case n == -1:
		return 0, nil
	case n < 0 || n > MaxStringBytes:
		return 0, fmt.Errorf("%s: bound of %d bytes is not from 1 to %d", what, n, MaxStringBytes)
	}
	return n, nil
}
