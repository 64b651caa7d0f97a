//go:build linux

package run

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/control"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/lines"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/privilege"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
)

// Command returns the command `run`.
func Command() *cobra.Command {
	o := Options{}
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the agent of a node: every process of every session, as lines of JSON",
		Long: `Run the agent of a node.

It writes a line for each fork, exec and exit of the processes that have a session's mark, with the session that the node's
journal has for it, and a line for whatever it could not see. Processes without such a mark it does not look at.

It needs the host's PID namespace, root's files, and CAP_BPF and CAP_PERFMON to load its programs (--mode=connector: CAP_NET_ADMIN
and CAP_SYS_PTRACE). All other capabilities it gives up at once, and those that it has no use for any more when it has begun.

Killed, it misses nothing that fits into the kernel's buffer, where that is pinned (--pin). It never stands in the way of a
process: what it cannot take in, it counts.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			if err := privilege.Confine(privilege.AtStart(o.Mode)); err != nil {
				return fmt.Errorf("giving up privileges: %w", err)
			}
			return run(c.Context(), o, slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil)))
		},
	}
	name, _ := os.Hostname()
	f := c.Flags()
	f.StringVar(&o.Node, "node-name", name, "the node's name")
	f.StringVar(&o.HostRoot, "host-root", "/", "where the host's root is mounted; journal, spool, logs and cgroups are within")
	f.StringArrayVar(&o.Journals, "journal", []string{DefaultJournal}, "a `FILE` of the node's exec journal")
	f.StringVar(&o.Spool, "spool", DefaultSpool, "the directory of sessions that are in no journal yet; empty is none")
	f.StringVar(&o.Logs, "container-logs", source.DefaultLogs, "the kubelet's directory of containers' logs, whose names tell the pods of containers; no log is read")
	f.StringVar(&o.Proc, "proc", source.DefaultProc, "the proc file system of the host's PID namespace, as a path of the agent's own")
	f.StringVar(&o.Mode, "mode", modeAuto, "ebpf, connector (the kernel's proc connector), or auto: the first, else the second")
	f.StringVar(&o.PinDir, "pin-dir", DefaultPinDir, "a directory in a BPF file system for what the kernel keeps while no agent is there")
	f.BoolVar(&o.Pin, "pin", true, "have the kernel keep what happens while no agent is there; false takes away what was pinned")
	f.IntVar(&o.RingBytes, "ring-bytes", bpf.DefaultRingBytes, "the size of the kernel's buffer, a power of two")
	f.StringVar(&o.Args, "args", "redact", "how arguments are told: keep, redact (what looks like a secret), hash or omit")
	f.StringVar(&o.ArgsKey, "args-key", "", "a `FILE` with the key of --args=hash, of at least 16 bytes; without one, hashes are others after each start")
	f.DurationVar(&o.Hold, "hold", agent.DefaultHold, "how long an event waits for its session's record")
	f.StringVar(&o.Output, "output", lines.Standard, "the `FILE` of events and notices, JSON lines; - is standard output")
	f.IntVar(&o.OutputMiB, "output-mib", DefaultOutputMiB, "the size at which the file is rotated, in MiB; 0 is never")
	f.IntVar(&o.OutputKeep, "output-keep", DefaultOutputKeep, "how many rotated files are kept, the newest, as FILE.NUMBER; 0 is all")
	f.StringVar(&o.MetricsListen, "metrics-listen", DefaultMetricsListen, "the address of /metrics, /healthz and /readyz; empty is none")
	f.StringVar(&o.Socket, "socket", control.DefaultSocket, "the socket of `status` and `top`; empty is none")
	f.IntVar(&o.MaxSessions, "max-sessions", agent.DefaultMaxSessions, "how many sessions are known at once")
	f.IntVar(&o.MaxProcesses, "max-processes", agent.DefaultMaxProcesses, "how many processes that are alive are known at once")
	f.Uint32Var(&o.MinLoginUID, "min-login-uid", agent.MinLoginUID, "the first login UID of the sessions' marks")
	f.Uint32Var(&o.MaxLoginUID, "max-login-uid", agent.MaxLoginUID, "the last login UID of the sessions' marks")
	return c
}
