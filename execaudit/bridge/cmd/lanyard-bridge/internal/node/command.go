//go:build linux

package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// Command returns the command `node`.
func Command() *cobra.Command {
	o := Options{}
	c := &cobra.Command{
		Use:   "node",
		Short: "Run the daemon of a node: the journal of its sessions, and its Lease",
		Long: `Run the daemon of a node.

It folds what the wrapper left in the spool into the journal, adds each session's first process and its end, and renews the
node's Lease, by which the webhook knows for which runtime handlers the wrapper is ready. While it is away, sessions go on and
their records wait.

It needs the host's PID namespace and root's files, and no capability; with CAP_SYS_PTRACE it knows exit codes on kernels before
6.15 too. Without --journal-key the journal is chained by hash and not sealed; ` + "`execaudit journal keys`" + ` makes a key file.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			o.log = slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
			var listener net.Listener
			if o.MetricsListen != "" {
				var err error
				if listener, err = net.Listen("tcp", o.MetricsListen); err != nil {
					return fmt.Errorf("metrics: %w", err)
				}
			}
			return run(c.Context(), o, listener)
		},
	}
	name, _ := os.Hostname()
	f := c.Flags()
	f.StringVar(&o.Node, "node-name", name, "the node's name")
	f.StringVar(&o.Namespace, "namespace", "lanyard-system", "the namespace of the node's Lease")
	f.StringVar(&o.HostRoot, "host-root", "/", "where the host's root is mounted; the paths below are within, if not said otherwise")
	f.StringVar(&o.State, "state-dir", DefaultState, "the directory of what is installed")
	f.StringVar(&o.Spool, "spool", "", "the directory in which the wrapper leaves its records (default STATE-DIR/spool)")
	f.StringVar(&o.Journal, "journal", "", "the journal's file (default STATE-DIR/journal/sessions.jsonl)")
	f.StringVar(&o.JournalKey, "journal-key", "", "the key file of the journal's seals")
	f.Int64Var(&o.JournalBytes, "journal-max-bytes", DefaultJournalBytes, "the size at which a journal's file is rotated, in bytes; 0 is never")
	f.IntVar(&o.JournalKeep, "journal-keep", DefaultJournalKeep, "how many rotated files are kept; 0 is all")
	f.StringVar(&o.Proc, "proc", "/proc", "the proc file system of the host's PID namespace, as a path of the daemon's own")
	f.StringVar(&o.KeysFrom, "keys-from", "", "a file of public keys to copy to where the wrapper reads them, as a path of the daemon's own")
	f.StringVar(&o.MetricsListen, "metrics-listen", DefaultMetricsListen, "the address of /metrics and /status; empty is none")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "credentials for the Lease, as a path of the daemon's own (default the pod's)")
	f.BoolVar(&o.NoLease, "no-lease", false, "renew no Lease")
	f.DurationVar(&o.LeaseDuration, "lease-duration", DefaultLeaseDuration, "how long the node is ready without a renewal")
	f.DurationVar(&o.Rescan, "rescan", DefaultRescan, "how often the spool is read where nothing tells of a change")
	return c
}

func (o *Options) validate() error {
	switch {
	case o.Node == "":
		return errors.New("--node-name is missing")
	case o.LeaseDuration < renewals*time.Second:
		return fmt.Errorf("--lease-duration must be at least %v", renewals*time.Second)
	case o.Rescan <= 0:
		return errors.New("--rescan must be positive")
	case o.JournalBytes < 0 || o.JournalKeep < 0:
		return errors.New("--journal-max-bytes and --journal-keep must not be negative")
	}
	return nil
}
