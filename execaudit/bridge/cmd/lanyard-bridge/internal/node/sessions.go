//go:build linux

package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// arrival is how old a session is before it counts as unused: by then its audit event and its journal are here.
const arrival = time.Minute

// listing is one run of the command `sessions`.
type listing struct {
	records, audits, journals []string
	spool, proc, form         string
	out, err                  io.Writer
	now                       func() time.Time

	evidence sessions.Evidence
	argv     map[bridge.SessionID][]string // by the node's word
	refusals []journal.Record
	faults   int
}

// Sessions returns the command `sessions`.
func Sessions() *cobra.Command {
	l := &listing{now: time.Now, argv: map[bridge.SessionID][]string{}}
	c := &cobra.Command{
		Use:   "sessions",
		Short: "Tell whose sessions there were, and whose processes there are",
		Long: `Tell whose sessions there were: the webhook's records, the API server's audit events and the nodes' journals, joined.

A session is admitted by the webhook's record alone, corroborated by the audit event, forged where a token was used that neither
knows, and unused where no node used its token. What nodes refused follows. With --proc on a node, each process of a session that
is alive, and those that gave themselves a login UID of the bridge's range without a session: a forged mark.

Without --journal nothing is told as unused or forged.`,
		Example: `  lanyard-bridge sessions --records sessions.jsonl --audit audit.log --journal /var/lib/lanyard/journal/sessions.jsonl --proc`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			l.out, l.err = c.OutOrStdout(), c.ErrOrStderr()
			return l.run()
		},
	}
	f := c.Flags()
	f.StringArrayVar(&l.records, "records", nil, "a `FILE` of session records, as the webhook writes them; - is standard input. The files that were rotated away are read with it")
	f.StringArrayVar(&l.audits, "audit", nil, "a `FILE` of audit events; - is standard input. The files that were rotated away are read with it")
	f.StringArrayVar(&l.journals, "journal", nil, "a node's journal; the files that were rotated away are read with it")
	f.StringVar(&l.proc, "proc", "", "list the processes of this node, from its proc file system (/proc if none is named)")
	f.Lookup("proc").NoOptDefVal = "/proc"
	f.StringVar(&l.spool, "spool", DefaultState+"/spool", "with --proc, where sessions wait that are in no journal yet")
	f.StringVarP(&l.form, "output", "o", "table", "table or json (lines)")
	return c
}

func (l *listing) run() error {
	if l.form != "table" && l.form != "json" {
		return fmt.Errorf("--output must be table or json, not %q", l.form)
	}
	var boot string
	var alive []process
	if l.proc != "" { // before the records: a process that is seen then has one
		host := proc.FS{Root: l.proc}
		var err error
		if boot, err = host.BootID(); err != nil {
			return err
		}
		if alive, err = l.alive(host); err != nil {
			return err
		}
	}
	now := l.now().Add(-arrival)
	if err := l.read(); err != nil {
		return err
	}
	if len(l.journals) == 0 {
		now = time.Time{} // nobody can know what was used
	}
	all := sessions.Judge(l.evidence, now)
	var lines []line
	for _, s := range all {
		lines = append(lines, l.session(s))
	}
	for _, r := range l.refusals {
		lines = append(lines, refusalLine(r))
	}
	lines = append(lines, l.live(boot, alive, all)...)
	if err := write(l.out, l.form, lines); err != nil {
		return err
	}
	if l.faults > 0 {
		return fmt.Errorf("%d lines could not be used", l.faults)
	}
	return nil
}

// read takes in all files. What is wrong with a line is told and passed over. What nodes say is first: a session that
// they know by then has its record.
func (l *listing) read() error {
	if l.proc != "" {
		l.waiting()
	}
	read := func(r io.Reader, name string) iter.Seq2[journal.Record, error] {
		return journal.NewReader(r, name).Records()
	}
	if err := readFiles(l, l.journals, read, l.journaled); err != nil {
		return err
	}
	if err := readFiles(l, l.records, sessions.Read, func(r sessions.Record) { l.evidence.Records = append(l.evidence.Records, r) }); err != nil {
		return err
	}
	return readFiles(l, l.audits, sessions.ReadAudits, func(a sessions.Audit) { l.evidence.Audits = append(l.evidence.Audits, a) })
}

// readFiles reads each file once, after those that were rotated away from it.
func readFiles[T any](l *listing, paths []string, read func(io.Reader, string) iter.Seq2[T, error], take func(T)) error {
	done := map[string]bool{}
	for _, path := range paths {
		files := []string{path}
		if path != "-" {
			var err error
			if files, err = journal.Files(path); err != nil {
				return err
			}
			if len(files) == 0 {
				return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
			}
		}
		for _, name := range files {
			if done[name] {
				continue
			}
			done[name] = true
			if err := readFile(l, name, read, take); err != nil {
				return err
			}
		}
	}
	return nil
}

func readFile[T any](l *listing, name string, read func(io.Reader, string) iter.Seq2[T, error], take func(T)) error {
	in := os.Stdin
	if name != "-" {
		var err error
		if in, err = os.Open(name); err != nil {
			return err
		}
		defer in.Close()
	}
	for value, err := range read(in, name) {
		if err == nil {
			take(value)
			continue
		}
		if path := new(fs.PathError); errors.As(err, &path) {
			return err
		}
		l.faults++
		fmt.Fprintln(l.err, "lanyard-bridge:", terminal.Escape(err.Error()))
	}
	return nil
}

func (l *listing) journaled(r journal.Record) {
	if r.Kind == journal.KindRefusal {
		l.refusals = append(l.refusals, r)
		return
	}
	if use, ok := sessions.UseOf(r); ok {
		l.evidence.Uses = append(l.evidence.Uses, use)
		if r.Kind == journal.KindIntent {
			l.argv[use.Session] = r.Argv
		}
	}
}

// waiting takes in the sessions that are in no journal yet. A spool that is not there has none.
func (l *listing) waiting() {
	for r, err := range spool.Records(l.spool) {
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			l.faults++
			fmt.Fprintln(l.err, "lanyard-bridge:", terminal.Escape(err.Error()))
			continue
		}
		e := newEntry(r)
		l.journaled(*e.owed[stepIntent])
	}
}

// process is one that is alive and has a mark.
type process struct {
	task           proc.Task
	session, login uint32
	argv           []string
}

// alive returns the processes of this node with a mark.
func (l *listing) alive(host proc.FS) ([]process, error) {
	found, err := host.Sessions(func(session uint32) bool { return session != proc.Unset })
	if err != nil {
		return nil, err
	}
	var all []process
	for _, pids := range found {
		for _, pid := range pids {
			var p process
			var errs [3]error
			p.session, p.login, errs[0] = host.Mark(pid)
			p.argv, errs[1] = host.Argv(pid)
			p.task, errs[2] = host.Task(pid)
			if errors.Join(errs[:]...) == nil && !p.task.Zombie {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// live returns a line for each process that has a session's mark, or one of the bridge's range.
func (l *listing) live(boot string, alive []process, all []sessions.Session) []line {
	byID, node := map[bridge.SessionID]sessions.Session{}, ""
	for _, s := range all {
		byID[s.ID] = s
	}
	for _, use := range l.evidence.Uses {
		if use.Mark.BootID == boot {
			node = use.Mark.Node
		}
	}
	marks := sessions.NewMarks(l.evidence.Uses)
	var lines []line
	for _, p := range alive {
		origin := marks.Judge(sessions.Process{Mark: sessions.Mark{Node: node, BootID: boot, SessionID: p.session}, LoginUID: p.login})
		if origin.Verdict == sessions.MarkRecorded || origin.Verdict == sessions.MarkForged {
			lines = append(lines, processLine(p.task, p.argv, origin, byID[origin.Use.Session]))
		}
	}
	sortProcesses(lines)
	return lines
}
