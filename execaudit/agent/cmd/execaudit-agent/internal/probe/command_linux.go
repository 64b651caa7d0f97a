package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/privilege"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/run"
	"github.com/lanyard-dev/lanyard/execaudit/agent/connector"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// options are those of the command.
type options struct {
	hostRoot, journal, pinDir, proc string
	asJSON                          bool
}

// Command returns the command `probe`.
func Command() *cobra.Command {
	o := options{}
	c := &cobra.Command{
		Use:   "probe",
		Short: "Tell what this node's kernel and these rights allow",
		Long: fmt.Sprintf(`Tell what this node's kernel and these rights allow: it tries what the agent would do, with the capabilities that the agent
keeps, and leaves nothing behind.

The exit code is 0 where the agent can see by eBPF, %d where only the kernel's proc connector can be had, %d where neither can.`, ExitConnector, ExitNone),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := privilege.Confine(privilege.AtStart("auto")); err != nil {
				return fmt.Errorf("giving up privileges: %w", err)
			}
			r := o.look()
			if !o.asJSON {
				if err := r.write(c.OutOrStdout()); err != nil {
					return err
				}
				return r.result()
			}
			text, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(c.OutOrStdout(), "%s\n", terminal.EscapeJSON(text)); err != nil {
				return err
			}
			return r.result()
		},
	}
	f := c.Flags()
	f.StringVar(&o.hostRoot, "host-root", "/", "where the host's root is mounted; journal and cgroups are within")
	f.StringVar(&o.journal, "journal", run.DefaultJournal, "the node's exec journal")
	f.StringVar(&o.pinDir, "pin-dir", run.DefaultPinDir, "where the agent would pin")
	f.StringVar(&o.proc, "proc", source.DefaultProc, "the proc file system of the host's PID namespace")
	f.BoolVar(&o.asJSON, "json", false, "print all of it as JSON")
	return c
}

// nobody is a login UID that no process has: what is tried sees nothing.
const nobody = 1<<32 - 2

func (o *options) look() *Report {
	r := &Report{Kernel: kernel(), Node: o.node()}
	for _, f := range bpf.Probe(existing(o.pinDir)) {
		r.EBPF = append(r.EBPF, found(f.Name, f.Err))
	}
	r.EBPF = append(r.EBPF, needed("all that the agent loads", o.try(source.ModeBPF)))
	has, err := privilege.Permitted()
	capability := func(number int, without string) {
		lacks := err
		if lacks == nil && has&privilege.Of(number) == 0 {
			lacks = errors.New("not there: " + without)
		}
		r.Connector = append(r.Connector, found("capability "+privilege.Of(number).Names()[0], lacks))
	}
	capability(unix.CAP_NET_ADMIN, "nobody listens to the connector without")
	capability(unix.CAP_SYS_PTRACE, "no environment of other processes, and so no session variable")
	capability(unix.CAP_DAC_READ_SEARCH, "no environment of other users' processes")
	r.Connector = append(r.Connector, needed("an answer of the connector", o.try(source.ModeConnector)))
	r.judge()
	return r
}

// try opens what the agent would, for nobody's processes.
func (o *options) try(mode source.Mode) error {
	opened, err := source.Open(mode,
		bpf.Options{RingBytes: os.Getpagesize(), MinLoginUID: nobody, MaxLoginUID: nobody},
		connector.Options{Proc: o.proc, MinLoginUID: nobody, MaxLoginUID: nobody})
	if err != nil {
		return err
	}
	return opened.Close()
}

// initialPIDNamespace and initialUserNamespace are the inode numbers that the kernel gives its first ones.
const (
	initialUserNamespace = 0xeffffffd
	initialPIDNamespace  = 0xeffffffc
)

// node is what both ways take.
func (o *options) node() []Finding {
	_, journal := os.Stat(filepath.Join(o.hostRoot, o.journal))
	if errors.Is(journal, os.ErrNotExist) {
		journal = errors.New("it is not there (yet): sessions are told as forged until their records are")
	}
	mark, err := os.ReadFile(filepath.Join(o.proc, "self", "sessionid"))
	session := needed("the kernel's mark (/proc/PID/sessionid)", err)
	if err == nil {
		session.Says = "this process has " + strings.Replace(strings.TrimSpace(string(mark)), "4294967295", "none", 1)
	}
	return []Finding{
		session,
		needed("the host's PID namespace", o.namespace("pid", initialPIDNamespace)),
		needed("the host's user namespace", o.namespace("user", initialUserNamespace)),
		cgroups(filepath.Join(o.hostRoot, source.DefaultCgroupRoot)),
		found("the journal", journal),
		lockdown(),
	}
}

func (o *options) namespace(kind string, initial uint64) error {
	name := filepath.Join(o.proc, "self", "ns", kind)
	var s unix.Stat_t
	if err := unix.Stat(name, &s); err != nil {
		return &os.PathError{Op: "stat", Path: name, Err: err}
	}
	if s.Ino != initial {
		return errors.New("this is another one: the pod needs hostPID")
	}
	return nil
}

func cgroups(root string) Finding {
	f := Finding{Name: "cgroups, which tell the container", OK: true, Says: "version 1"}
	var s unix.Statfs_t
	if err := unix.Statfs(root, &s); err != nil {
		return found(f.Name, &os.PathError{Op: "statfs", Path: root, Err: err})
	}
	if s.Type == unix.CGROUP2_SUPER_MAGIC {
		f.Says = "version 2"
	}
	return f
}

// lockdown tells what the kernel keeps to itself. The agent needs nothing of it.
func lockdown() Finding {
	f := Finding{Name: "lockdown", OK: true, Says: "none, or not told here"}
	if text, err := os.ReadFile("/sys/kernel/security/lockdown"); err == nil {
		f.Says = strings.TrimSpace(string(text))
	}
	return f
}

func found(name string, err error) Finding {
	f := Finding{Name: name, OK: err == nil}
	if err != nil {
		f.Says = err.Error()
	}
	return f
}

func needed(name string, err error) Finding {
	f := found(name, err)
	f.Needed = true
	return f
}

// existing is the directory, or the nearest above it that is there.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func kernel() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(name.Release[:])
}
