//go:build linux

package node

import (
	"log/slog"
	"path/filepath"
	"time"

	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// Defaults of the daemon.
const (
	DefaultState         = "/var/lib/lanyard"
	DefaultMetricsListen = "127.0.0.1:9091"
	DefaultLeaseDuration = 40 * time.Second
	DefaultRescan        = time.Minute
	DefaultJournalBytes  = 64 << 20 // 64 MiB
	DefaultJournalKeep   = 16
)

// renewals is how many renewals fit into a Lease's duration.
const renewals = 4

// MinFree is the free space that the spool's file system has where a node is ready.
const MinFree = 16 << 20 // 16 MiB

// Options say what the daemon works on. Paths are the host's, and looked for under HostRoot; those of Proc, KeysFrom
// and Kubeconfig are the daemon's own.
type Options struct {
	// Node is the node's name, Namespace that of the daemon's Lease.
	Node, Namespace string
	// HostRoot is where the host's root is mounted.
	HostRoot string
	// Proc is the proc file system of the host's PID namespace.
	Proc string
	// State is the directory of what is installed.
	State string
	// Spool and Journal are State's spool and journal/sessions.jsonl if empty. JournalKey is the key file of the
	// journal's seals; without one the journal is chained, not sealed.
	Spool, Journal, JournalKey string
	// JournalBytes and JournalKeep are the journal's MaxBytes and Keep.
	JournalBytes int64
	JournalKeep  int
	// KeysFrom is the file of public keys that is copied to where the wrapper reads them; empty is none.
	KeysFrom string
	// MetricsListen is the address of metrics and status; empty is none.
	MetricsListen string
	// NoLease keeps the node's Lease as it is. Kubeconfig is for the Lease; empty is the pod's own credentials.
	NoLease       bool
	Kubeconfig    string
	LeaseDuration time.Duration
	// Rescan is how often the spool is read where nothing tells of a change.
	Rescan time.Duration

	leases coordination.LeaseInterface // if not nil, of a test
	log    *slog.Logger
	now    func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Spool == "" {
		o.Spool = filepath.Join(o.State, "spool")
	}
	if o.Journal == "" {
		o.Journal = filepath.Join(o.State, "journal", "sessions.jsonl")
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// host returns where a path of the host's is.
func (o *Options) host(path string) string { return filepath.Join(o.HostRoot, path) }

func (o *Options) installed() (installed.State, error) {
	return installed.Load(o.host(filepath.Join(o.State, installed.File)))
}

// margin is how long a token's file stands after the token's time is over: the clocks are apart by less.
const margin = oci.MaxSkew
