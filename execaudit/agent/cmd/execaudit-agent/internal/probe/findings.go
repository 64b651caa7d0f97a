package probe

import (
	"fmt"
	"io"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// Finding is one thing that was tried.
type Finding struct {
	Name string `json:"name"`
	// OK says that it is as the agent needs it; Needed that the agent cannot do without.
	OK     bool `json:"ok"`
	Needed bool `json:"needed"`
	// Says is why it is not, or what was found.
	Says string `json:"says,omitempty"`
}

// The modes that can come of it, by what the exit code says.
const (
	modeEBPF      = "ebpf"
	modeConnector = "connector"
	modeNone      = "none"
)

// Report is what was found.
type Report struct {
	Kernel string `json:"kernel"`
	// Mode is what an agent with these rights would use: "ebpf", "connector" or "none".
	Mode string `json:"mode"`
	// EBPF, Connector and Node are what each way of seeing takes, and what both do.
	EBPF      []Finding `json:"ebpf"`
	Connector []Finding `json:"connector"`
	Node      []Finding `json:"node"`
}

// judge sets the mode.
func (r *Report) judge() {
	switch {
	case !usable(r.Node):
		r.Mode = modeNone
	case usable(r.EBPF):
		r.Mode = modeEBPF
	case usable(r.Connector):
		r.Mode = modeConnector
	default:
		r.Mode = modeNone
	}
}

func usable(all []Finding) bool {
	for _, f := range all {
		if f.Needed && !f.OK {
			return false
		}
	}
	return true
}

// Exit codes of the command.
const (
	ExitConnector = 3
	ExitNone      = 4
)

// exit is how the command ends; it says nothing more.
type exit int

func (e exit) Error() string { return "" }
func (e exit) ExitCode() int { return int(e) }

// result is the command's error for a report.
func (r *Report) result() error {
	switch r.Mode {
	case modeEBPF:
		return nil
	case modeConnector:
		return exit(ExitConnector)
	}
	return exit(ExitNone)
}

// write prints the report for people.
func (r *Report) write(out io.Writer) error {
	fmt.Fprintf(out, "kernel %s\n", terminal.Escape(r.Kernel))
	for _, part := range []struct {
		title    string
		findings []Finding
	}{{"The node", r.Node}, {"eBPF", r.EBPF}, {"The proc connector", r.Connector}} {
		fmt.Fprintf(out, "\n%s\n", part.title)
		for _, f := range part.findings {
			fmt.Fprintf(out, "  %-4s %s", f.word(), terminal.Escape(f.Name))
			if f.Says != "" {
				fmt.Fprintf(out, ": %s", terminal.Escape(f.Says))
			}
			fmt.Fprintln(out)
		}
	}
	_, err := fmt.Fprintf(out, "\nan agent here sees by: %s\n", r.Mode)
	return err
}

// word tells what is needed and missing from what is only missed.
func (f Finding) word() string {
	switch {
	case f.OK:
		return "ok"
	case f.Needed:
		return "NO"
	}
	return "no"
}
