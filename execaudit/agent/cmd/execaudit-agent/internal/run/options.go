//go:build linux

package run

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/usage"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/redact"
)

// Defaults of the flags. Journal and spool are the bridge's.
const (
	DefaultJournal       = "/var/lib/lanyard/journal/sessions.jsonl"
	DefaultSpool         = "/var/lib/lanyard/spool"
	DefaultPinDir        = "/sys/fs/bpf/execaudit-agent"
	DefaultMetricsListen = "127.0.0.1:9092"
	DefaultOutputMiB     = 64
	DefaultOutputKeep    = 16
)

// modeAuto is the first of the others that can be had.
const modeAuto = "auto"

// modes are what --mode takes, and what it means.
var modes = map[string]source.Mode{
	modeAuto: source.ModeAuto, board.ModeEBPF: source.ModeBPF, board.ModeConnector: source.ModeConnector,
}

// Options are those of the agent, each by its flag.
type Options struct {
	// Node is the node's name.
	Node string
	// HostRoot is where the host's root is mounted; Journals, Spool, Logs and the cgroups are looked for under it.
	HostRoot string
	Journals []string
	Spool    string
	// Logs is the kubelet's directory of containers' logs, whose names tell pods.
	Logs string
	// Proc is the proc file system of the host's PID namespace. It and what follows are the agent's own paths.
	Proc string
	// Mode is a key of modes.
	Mode string
	// PinDir is where programs and buffer stay; Pin false takes them away from there.
	PinDir    string
	Pin       bool
	RingBytes int
	// Args says how arguments are told; ArgsKey is a file with the key of hashes, empty for a new key at each start.
	Args, ArgsKey string
	Hold          time.Duration
	// Output is a file, or - for standard output.
	Output                    string
	OutputMiB, OutputKeep     int
	MetricsListen, Socket     string
	MaxSessions, MaxProcesses int
	// MinLoginUID and MaxLoginUID are the range of the marks.
	MinLoginUID, MaxLoginUID uint32
}

// validate returns the first thing that is wrong with the flags, as a usage.Error.
func (o *Options) validate() error {
	if _, known := modes[o.Mode]; !known {
		return usage.Errorf("--mode is %q: it is auto, ebpf or connector", o.Mode)
	}
	policy, err := agent.ParseArgsPolicy(o.Args)
	if err != nil {
		return usage.Errorf("--args: %w", err)
	}
	if o.ArgsKey != "" && policy.Mode != agent.ArgsHash {
		return usage.Errorf("--args-key is for --args=hash")
	}
	switch {
	case o.Node == "":
		return usage.Errorf("--node-name is missing")
	case o.Output == "":
		return usage.Errorf("--output is missing: a file, or - for standard output")
	case o.OutputMiB < 0 || o.OutputKeep < 0:
		return usage.Errorf("--output-mib and --output-keep are at least 0")
	case o.RingBytes < 4096 || o.RingBytes > bpf.MaxRingBytes || bits.OnesCount(uint(o.RingBytes)) != 1:
		return usage.Errorf("--ring-bytes is %d: it is a power of two from 4096 to %d", o.RingBytes, bpf.MaxRingBytes)
	case o.Pin && o.PinDir == "":
		return usage.Errorf("--pin-dir is missing")
	case o.Hold <= 0:
		return usage.Errorf("--hold is above 0")
	case o.MaxSessions <= 0 || o.MaxProcesses <= 0:
		return usage.Errorf("--max-sessions and --max-processes are above 0")
	case o.MinLoginUID > o.MaxLoginUID || o.MaxLoginUID == 1<<32-1:
		return usage.Errorf("--min-login-uid and --max-login-uid are a range below 4294967295")
	}
	return nil
}

// host returns where a path of the host's is.
func (o *Options) host(path string) string { return filepath.Join(o.HostRoot, path) }

// keyBytes is the least length of a key of hashes.
const keyBytes = 16

// args is the policy of arguments, with the key of hashes.
func (o *Options) args() (agent.ArgsPolicy, error) {
	policy, err := agent.ParseArgsPolicy(o.Args)
	if err != nil || o.ArgsKey == "" {
		return policy, err // without a key the source makes one
	}
	key, err := os.ReadFile(o.ArgsKey)
	if err != nil {
		return policy, err
	}
	if len(key) < keyBytes {
		return policy, fmt.Errorf("%s: a key of %d bytes: it has at least %d", o.ArgsKey, len(key), keyBytes)
	}
	policy.Key = redact.NewBytes(key)
	return policy, nil
}

// tracker are the options of what is kept.
func (o *Options) tracker(args agent.ArgsPolicy) agent.Options {
	return agent.Options{
		Args: args, MinLoginUID: o.MinLoginUID, MaxLoginUID: o.MaxLoginUID, Hold: o.Hold, MaxSessions: o.MaxSessions, MaxProcesses: o.MaxProcesses,
	}
}
