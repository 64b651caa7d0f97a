package status

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/control"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// ErrUnwell says that the agent is blind, loses events or cannot write; the output says which.
var ErrUnwell = errors.New("the agent does not see or tell everything")

// Command returns the command `status`.
func Command() *cobra.Command {
	var (
		socket string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "status",
		Short: "Tell whether the agent of this node is well",
		Long: `Tell whether the agent of this node is well: how it sees processes, what it wrote, what is missing.

It asks the agent at its socket, as root. The exit code is 1 when the agent does not answer, does not use eBPF, cannot see
something, lost events in the last ten minutes, or cannot read the journal or write its output.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client := control.NewClient(socket)
			defer client.Close()
			s, err := client.Status(c.Context())
			if err != nil {
				return err
			}
			now := time.Now()
			if asJSON {
				err = writeJSON(c.OutOrStdout(), &s, now)
			} else {
				_, err = io.WriteString(c.OutOrStdout(), Text(&s, now))
			}
			if err == nil && len(s.Faults(now)) > 0 {
				err = ErrUnwell
			}
			return err
		},
	}
	c.Flags().StringVar(&socket, "socket", control.DefaultSocket, "the agent's socket")
	c.Flags().BoolVar(&asJSON, "json", false, "print all of it as JSON")
	return c
}

func writeJSON(out io.Writer, s *board.Status, now time.Time) error {
	faults := s.Faults(now)
	if faults == nil {
		faults = []string{}
	}
	text, err := json.MarshalIndent(struct {
		*board.Status
		Faults []string `json:"faults"`
	}{s, faults}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", terminal.EscapeJSON(text))
	return err
}

// Text returns the status for people, safe to print, a line for each thing.
func Text(s *board.Status, now time.Time) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s%s\n", name, terminal.Escape(fmt.Sprintf(format, args...)))
	}
	line("node", "%s", s.Node)
	line("agent", "%s, since %s", s.Version, s.Started.UTC().Format(time.DateTime+" UTC"))
	line("sees by", "%s%s", s.Mode, pinned(s))
	line("sessions", "%d, with %d processes", s.Sessions, s.Processes)
	line("events", "%d fork, %d exec, %d exit; %d of them the runtime's own", s.Events["fork"], s.Events["exec"], s.Events["exit"], s.Runtime)
	line("held", "%d, which wait for their session's record", s.Held)
	line("lost", "%s", lost(s))
	line("marks", "%d forged, %d left, %d of two sessions", s.Notices["forged"], s.Notices["left"], s.Notices["conflict"])
	if s.RingBytes > 0 {
		line("buffer", "%d KiB in the kernel", s.RingBytes>>10)
	}
	line("journal", "%s", s.Journal)
	line("output", "%s; %d KiB wait for it", s.Output, s.Waiting>>10)
	line("capabilities", "%s", cmp.Or(strings.Join(s.Capabilities, " "), "none"))
	if s.Trouble != "" {
		line("trouble", "%s", s.Trouble)
	}
	faults := s.Faults(now)
	for _, fault := range faults {
		line("!", "%s", fault)
	}
	if len(faults) == 0 {
		line("well", "yes")
	}
	return b.String()
}

func pinned(s *board.Status) string {
	if s.Pinned {
		return ", pinned: a restart leaves no gap"
	}
	return ", not pinned: a restart leaves a gap"
}

func lost(s *board.Status) string {
	if s.Notices["lost"] == 0 {
		return "none"
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(s.Lost)) {
		parts = append(parts, fmt.Sprintf("%d (%s)", s.Lost[reason], reason))
	}
	return fmt.Sprintf("%s; told %d times", strings.Join(parts, ", "), s.Notices["lost"])
}
