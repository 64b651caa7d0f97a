//go:build linux

package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// Exit codes of these commands, beside 0, 1 and 2.
const (
	exitRestart = 3
	exitKeeping = 4
)

// unfinished is an outcome with an exit code of its own; its text was printed already.
type unfinished int

func (unfinished) Error() string   { return "" }
func (u unfinished) ExitCode() int { return int(u) }

// wrongUsage is [ErrUsage] with the exit code of wrong flags.
type wrongUsage struct{ error }

func (wrongUsage) ExitCode() int { return 2 }

func coded(err error) error {
	if errors.Is(err, ErrUsage) {
		return wrongUsage{err}
	}
	return err
}

// Command returns the command `install`.
func Command() *cobra.Command {
	var o Options
	c := &cobra.Command{
		Use: "install", Short: "Put the wrapper into the place of the node's OCI runtime", Args: cobra.NoArgs,
		Long: `Install puts lanyard-oci into the place of the node's OCI runtime, and asks the runtime whether it uses it.

Modes:
  runtimeclass  adds the runtime handler "lanyard" to the runtime's configuration: only pods of that RuntimeClass get
                the wrapper. The runtime must be restarted.
  drop-in       existing handlers get the wrapper. Pods made after the runtime's restart are marked, older ones are not,
                nor are containers that restart in them.
  bind          covers the real runtime's file by a bind mount: running containers too, without restart. While it is
                covered, a package's upgrade of the runtime fails (EBUSY): uninstall first. A reboot undoes it.

Again, it changes nothing but what is to be brought up to date. It restarts nothing unless --restart says how.
It exits with 3 when the runtime must be restarted first.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Node == "" {
				o.Node = os.Getenv("NODE_NAME")
			}
			if o.Node == "" && o.HostRoot == "" && o.MountNamespace == 0 {
				o.Node, _ = os.Hostname()
				o.Node = strings.ToLower(o.Node)
			}
			report, err := Install(c.Context(), o)
			if err != nil {
				return coded(err)
			}
			printReport(c.OutOrStdout(), report)
			if o.Mode == ModeRuntimeClass || o.Mode == "" {
				fmt.Fprintf(c.OutOrStdout(), "Its RuntimeClass:\n%s", runtimeClass(o))
			}
			if report.Restart != "" {
				return unfinished(exitRestart)
			}
			if !report.Active {
				return errors.New("installed, and not active")
			}
			return nil
		},
	}
	shared(c, &o)
	f := c.Flags()
	f.StringArrayVar(&o.Handlers, "handler", nil, "runtime handler to change, or to copy in mode runtimeclass; repeats; the default one if not given")
	f.StringVar(&o.NewHandler, "new-handler", DefaultHandler, "name of the handler that mode runtimeclass adds")
	f.StringVar(&o.Config, "config", "", "the runtime's main configuration file; if empty, what it was started with")
	f.StringVar(&o.Real, "runtime", "", "path of the real runtime; if empty, as configured")
	f.StringVar(&o.Wrapper, "wrapper", "", "the program lanyard-oci to install; if empty, the one beside this program")
	f.StringVar(&o.Node, "node-name", "", "the node's name; if empty, NODE_NAME or the host's name")
	f.StringVar((*string)(&o.Mark), "mark", string(oci.MarkSessions), "what gets the kernel's mark: sessions, workloads or off")
	f.StringVar((*string)(&o.Failure), "failure", string(oci.FailClosed), "a session whose record cannot be written: closed or open")
	f.DurationVar(&o.Skew, "skew", oci.DefaultSkew, "how far the webhook's clock may be apart")
	f.StringSliceVar(&o.UnmarkedNamespaces, "unmarked-namespace", nil, "namespace whose processes get no mark of the kernel's; repeats")
	return c
}

// shared are the flags of all three commands.
func shared(c *cobra.Command, o *Options) {
	f := c.Flags()
	f.StringVar((*string)(&o.Mode), "mode", string(DefaultMode), "runtimeclass, drop-in or bind")
	f.StringVar(&o.Prefix, "prefix", DefaultPrefix, "directory of the wrapper")
	f.StringVar(&o.State, "state", DefaultState, "directory of records, journal and what is installed")
	f.StringVar(&o.Keys, "keys", DefaultKeys, "file of public keys")
	f.StringVar(&o.Socket, "cri-socket", "", "the runtime's CRI socket; if empty, containerd's or CRI-O's")
	f.StringVar(&o.HostRoot, "host-root", "", "where the host's root is mounted; mode bind enters the mount namespace of process 1 instead")
	f.IntVar(&o.MountNamespace, "mount-namespace", 0, "act in this process's mount namespace")
	host := f.Bool("host-pid-ns", false, "act in the mount namespace of process 1: for a pod with hostPID")
	if c.Name() != "status" {
		f.StringVar(&o.Restart, "restart", "", "shell command that restarts the runtime; if empty, nothing is restarted")
		f.BoolVar(&o.Force, "force", false, "go on where something speaks against it")
	}
	c.PreRun = func(*cobra.Command, []string) {
		if *host && o.MountNamespace == 0 {
			o.MountNamespace = 1
		}
	}
}

// UninstallCommand returns the command `uninstall`.
func UninstallCommand() *cobra.Command {
	var o Options
	c := &cobra.Command{
		Use: "uninstall", Short: "Take the wrapper away from the node's OCI runtime", Args: cobra.NoArgs,
		Long: `Uninstall makes the runtime's configuration what it was, byte for byte but for what others changed meanwhile, and takes
bind mounts off. The wrapper passes every call through until no container names it; a second uninstall removes it then.
Keys, records and the journal stay.

It exits with 3 when the runtime must be restarted first, and 4 while pods or containers still need the wrapper.`,
		RunE: func(c *cobra.Command, _ []string) error {
			report, err := Uninstall(c.Context(), o)
			if err != nil {
				return coded(err)
			}
			printReport(c.OutOrStdout(), report)
			switch {
			case report.Restart != "":
				return unfinished(exitRestart)
			case report.Leaving:
				return unfinished(exitKeeping)
			}
			return nil
		},
	}
	shared(c, &o)
	c.Flags().DurationVar(&o.Settle, "settle", DefaultSettle, "how long to wait until no more tokens are made for this node")
	return c
}

// StatusCommand returns the command `status`.
func StatusCommand() *cobra.Command {
	var o Options
	var output, daemon string
	c := &cobra.Command{
		Use: "status", Short: "Tell what is installed on the node, and whether the runtime uses it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := Inspect(c.Context(), o, daemon)
			if err != nil {
				return coded(err)
			}
			switch output {
			case "json":
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(s)
			case "text":
				printStatus(c.OutOrStdout(), s)
				return nil
			}
			return wrongUsage{fmt.Errorf("%w: output %q, must be text or json", ErrUsage, output)}
		},
	}
	shared(c, &o)
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	c.Flags().StringVar(&daemon, "daemon", "http://127.0.0.1:9091/status", "where the node's daemon tells its status; empty asks nobody")
	return c
}

// runtimeClass returns the object by which pods choose the handler.
func runtimeClass(o Options) string {
	name := o.NewHandler
	if name == "" {
		name = DefaultHandler
	}
	return fmt.Sprintf("apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata:\n  name: %s\nhandler: %s\n", name, name)
}

func printReport(w io.Writer, r Report) {
	if r.Mode == "" {
		fmt.Fprintln(w, "not installed")
		return
	}
	state := "not active"
	switch {
	case r.Leaving:
		state = "leaving: every call passes through"
	case r.Active:
		state = "active"
	}
	fmt.Fprintf(w, "mode %s, %s; %s %s, configuration %s\n", r.Mode, state, r.Runtime, terminal.Escape(r.Version), terminal.Escape(r.Config))
	for _, h := range r.Handlers {
		state := h.Reason
		if h.Active {
			state = "active since " + h.Since.Format("2006-01-02T15:04:05Z")
		}
		fmt.Fprintf(w, "handlers %q: %s before %s: %s\n", h.Names, terminal.Escape(h.Wrapper), terminal.Escape(h.Runtime), terminal.Escape(state))
	}
	for _, u := range r.Keeping {
		fmt.Fprintf(w, "needed by %s\n", terminal.Escape(describe(u)))
	}
	if r.Restart != "" {
		fmt.Fprintf(w, "next: %s, then this command again\n", r.Restart)
	}
}

func describe(u User) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s/%s %s", u.Kind, u.ID, u.Namespace, u.Pod, u.Container))
}

func printStatus(w io.Writer, s Status) {
	printReport(w, s.Report)
	for _, f := range s.Wrappers {
		fmt.Fprintf(w, "wrapper %s version %s sha256 %s\n", terminal.Escape(f.Path), terminal.Escape(f.Version), f.SHA256)
	}
	fmt.Fprintf(w, "keys %s: %q %s\n", terminal.Escape(s.Keys.Path), s.Keys.IDs, terminal.Escape(s.Keys.Fault))
	fmt.Fprintf(w, "spool %s: %d records, %d refusals wait, %d MiB free %s\n", terminal.Escape(s.Spool.Path), s.Spool.Records, s.Spool.Refusals, s.Spool.FreeBytes>>20, terminal.Escape(s.Spool.Fault))
	for _, f := range s.Journal {
		fmt.Fprintf(w, "journal %s: %d bytes\n", terminal.Escape(f.Path), f.Bytes)
	}
	for _, u := range s.Older {
		fmt.Fprintf(w, "unmarked, older than the installation: %s\n", terminal.Escape(describe(u)))
	}
	for name, fault := range map[string]string{"the runtime": s.Fault, "the node's daemon": s.DaemonFault} {
		if fault != "" {
			fmt.Fprintf(w, "%s: %s\n", name, terminal.Escape(fault))
		}
	}
	if s.Daemon != nil {
		fmt.Fprintf(w, "the node's daemon: %s\n", terminal.Escape(string(s.Daemon)))
	}
}
