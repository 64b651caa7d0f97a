package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/join"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/report"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// attribute is one run of the command.
type attribute struct {
	streams
	code                    *int
	audit, events, journals []string
	filter                  attribution.Filter
	options                 attribution.Options
	format, node            string
	follow                  bool
	memory                  int // MiB

	faults faults
}

func newAttribute(s streams, code *int) *cobra.Command {
	a := &attribute{streams: s, code: code}
	cmd := &cobra.Command{
		Use:   "attribute --audit FILES --events FILES [--journal FILES]",
		Short: "Join process events with the exec sessions they belong to",
		Long: `Join process events with the exec sessions they belong to, and say how much each answer is worth.

FILES are one file, "-" for standard input, or several separated by commas: the files of one log, in any order. With --follow the
last of them grows, and the others are read first. Gzip is understood. The flags may be repeated, for logs of several nodes or agents. The format
of events is told by their lines: Tetragon, Falco, Tracee, Security Profiles Operator, or this project's own process events.

Only the verdict corroborated names a user as fact, and without a journal no name is one; (alice?) is a claim. Filters that are set have to
match together.

Evidence that comes late corrects answers: an audit event that was delivered minutes after, say. The table and the page have the last
answer about each event only. JSON lines have every one: "key" says which event it is about, and of the lines with one key that of the highest
"revision" counts; --last leaves the others out. With --follow the table's first column names each answer, and a correction has the name of
what it replaces, with its revision: 3f2a9c01#2. What matched and was printed is corrected also when the correction does not match.

An event needs a node's name. --node names that of lines without one; logs of several such nodes need a run each.

At the end it is said for each file how many lines were used, ignored and faulted. A file of which nothing could be used is a fault,
an empty one too; an audit log without an exec is not. It is also said how far a node's clock is off the API servers' where that is more than
--skew, how many answers were corrected, and what --memory cost.

Exit code, by the last answer about each event: 0 nothing matched, 3 something matched, 1 something of the input could not be used (the
rest was), 2 wrong usage.`,
		Example: `  execaudit attribute --audit audit.log.1.gz,audit.log --journal sessions.jsonl --events tetragon.json --pod web-0 --command nsenter
  execaudit attribute --audit audit.log --journal sessions.jsonl --events tetragon.json -o html > who.html
  execaudit attribute --audit audit.log --journal sessions.jsonl --events tetragon.json --follow --group contractors -o json`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&a.audit, "audit", nil, "audit log of the API server, `FILES` (required)")
	flags.StringArrayVar(&a.events, "events", nil, "process events of an agent, `FILES` (required)")
	flags.StringArrayVar(&a.journals, "journal", nil, "exec journal of a node's runtime or bridge, `FILES`; without one every name is a claim")
	flags.StringVar(&a.filter.User, "user", "", "only this user `NAME`, as fact or as claimed")
	flags.StringVar(&a.filter.Group, "group", "", "only users of the group `NAME`")
	flags.StringVarP(&a.filter.Namespace, "namespace", "n", "", "only the namespace `NAME`")
	flags.StringVar(&a.filter.Pod, "pod", "", "only the pod `NAME`")
	flags.StringVar(&a.filter.Command, "command", "", "only command lines with this `TEXT` in them")
	flags.StringVarP(&a.format, "output", "o", "table", "`FORM`: table, json (one object a line) or html (one page, written at the end)")
	flags.StringVar(&a.node, "node", "", "node `NAME` of all events that do not name theirs, as Tracee's")
	flags.BoolVarP(&a.follow, "follow", "f", false, "go on as the files grow, until interrupted")
	flags.BoolVar(&a.options.All, "all", false, "also events without an ID and outside of every session")
	flags.BoolVar(&a.options.Last, "last", false, "only the last answer about each event, once nothing corrects it any more")
	flags.DurationVar(&a.options.Window, "window", attribution.DefaultWindow, "how long an event waits for late evidence before it is answered")
	flags.DurationVar(&a.options.Linger, "linger", attribution.DefaultLinger, "how long after that late evidence corrects the answer, and what is over is remembered")
	flags.DurationVar(&a.options.Skew, "skew", attribution.DefaultSkew, "how far the clocks of nodes and API servers may be apart")
	flags.IntVar(&a.memory, "memory", attribution.DefaultMaxBytes>>20, "bound of what is remembered, in `MIB`; what it costs is said at the end")
	return cmd
}

// writer is a form of output.
type writer interface {
	Add(*attribution.Answer) error
	Close() error
}

func (a *attribute) newWriter(w io.Writer) (writer, error) {
	switch a.format {
	case "table":
		if a.follow && !a.options.Last {
			return report.NewLiveTable(w), nil
		}
		return report.NewTable(w), nil
	case "json":
		return report.NewJSON(w), nil
	case "html":
		return report.NewPage(w), nil
	}
	return nil, usageError{fmt.Errorf("output %q is not one of table, json, html", a.format)}
}

func (a *attribute) run(ctx context.Context) error {
	if err := a.check(); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(a.out, 64<<10)
	to := io.Writer(buffered)
	if a.follow {
		to = a.out // so that each answer is seen at once
	}
	out, err := a.newWriter(to)
	if err != nil {
		return err
	}
	a.faults.w = a.err
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := newMatches(a.filter, a.options)
	m := attribution.New(a.options, func(answer *attribution.Answer) {
		if found.take(answer) {
			if err := out.Add(answer); err != nil {
				cancel(err)
			}
		}
	})
	a.join(ctx, m)
	if err := a.interrupted(ctx); err != nil {
		return inputError{err}
	}
	if err := errors.Join(a.close(out), buffered.Flush()); err != nil {
		return inputError{err}
	}
	a.finish(m, found.count > 0)
	return nil
}

var errInterrupted = errors.New("interrupted: the logs were not read to their end")

// interrupted returns why the output stopped; that a person stopped the reading is a fault, except of what has no end.
func (a *attribute) interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, context.Canceled) {
		return cause
	}
	if !a.follow {
		a.faults.add(errInterrupted)
	}
	return nil
}

// close ends the output. A page that is full is whole, and says itself how much it left out.
func (a *attribute) close(out writer) error {
	err := out.Close()
	if errors.Is(err, report.ErrPageFull) {
		a.faults.add(err)
		return nil
	}
	return err
}

func (a *attribute) join(ctx context.Context, m *attribution.Machine) {
	trouble := join.Trouble{Fault: a.faults.line, Stopped: a.faults.stopped, Ended: a.faults.ended}
	p := newProgress(a.err)
	defer p.done()
	sources := a.sources(ctx, p)
	if !a.follow {
		_ = join.Files(ctx, m, sources, trouble) // its only error is ctx's
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	whole := context.WithoutCancel(ctx) // followed files end with ctx; what was read is answered
	var channels []<-chan *lines.Batch
	for _, s := range sources {
		channels = append(channels, s.Read(whole))
	}
	join.Live(whole, m, channels, ticker.C, trouble)
}

// finish sums up and chooses the exit code.
func (a *attribute) finish(m *attribution.Machine, matched bool) {
	a.faults.sum(a.paths())
	for _, line := range notes(m.Stats(), m.Skews(), a.options) {
		fmt.Fprintln(a.err, terminal.Escape(line))
	}
	switch {
	case a.faults.count > 0:
		*a.code = exitFaults
	case matched:
		*a.code = exitMatched
	}
}
