package top

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/control"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/usage"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// The size of what is no terminal, or does not say how large it is.
const (
	defaultWidth  = 160
	defaultHeight = 24
)

func helpLine(by Order) string { return fmt.Sprintf(help, by) }

// Command returns the command `top`.
func Command() *cobra.Command {
	var (
		socket   string
		records  []string
		once     bool
		asJSON   bool
		interval time.Duration
		order    = string(OrderNewest)
		match    string
	)
	c := &cobra.Command{
		Use:   "top",
		Short: "Show the sessions of this node as they go on: pod, age, processes, newest command",
		Long: `Show the sessions of this node as they go on.

It asks the agent at its socket, as root. Keys: q quits, s sorts otherwise, j and k scroll. Into a pipe, or with --once, it prints
what there is now. Users are not known on nodes: --sessions names files of session records, which lanyard-bridge's webhook writes.

A session "forged?" has a mark that no record of the node has. PID is a session's first process.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains(orders, Order(order)) {
				return usage.Errorf("--sort is %q: it is one of %q", order, orders)
			}
			if interval < 100*time.Millisecond {
				return usage.Errorf("--interval is at least 100ms")
			}
			known, err := openUsers(records)
			if err != nil {
				return err
			}
			client := control.NewClient(socket)
			defer client.Close()
			w := &watcher{ask: client.Snapshot, users: known, interval: interval, order: Order(order), layout: Layout{Match: match}}
			out, is := c.OutOrStdout().(*os.File)
			if once || asJSON || !is || !isTerminal(out) || !isTerminal(os.Stdin) {
				return w.print(c.Context(), c.OutOrStdout(), asJSON)
			}
			return w.watch(c.Context(), os.Stdin, out)
		},
	}
	f := c.Flags()
	f.StringVar(&socket, "socket", control.DefaultSocket, "the agent's socket")
	f.StringArrayVar(&records, "sessions", nil, "a `FILE` of session records, for the users' names; the files that were rotated away are read with it")
	f.BoolVar(&once, "once", false, "print what there is now, and end")
	f.BoolVar(&asJSON, "json", false, "print what there is now as JSON, and end")
	f.DurationVar(&interval, "interval", time.Second, "how often the agent is asked")
	f.StringVar(&match, "match", "", "show only sessions with this text: a session's ID, a user, a pod or a part of a command")
	f.StringVar(&order, "sort", order, "newest, since, processes or pod")
	return c
}

// print prints what there is now.
func (w *watcher) print(ctx context.Context, out io.Writer, asJSON bool) error {
	snapshot, err := w.ask(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		text, err := json.MarshalIndent(snapshot, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", terminal.EscapeJSON(text))
		return err
	}
	width := defaultWidth
	if file, is := out.(*os.File); is {
		if columns, _ := sizeOf(file); columns > 0 {
			width = columns
		}
	}
	l := w.layout
	l.Width, l.Order, l.Users = width, w.order, w.users.names
	for _, line := range Draw(snapshot, l) {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}
