//go:build linux

package node

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// The kinds of lines.
const (
	lineSession = "session"
	lineRefusal = "refusal"
	lineProcess = "process"
)

// line is one line of the output, and one object with -o json.
type line struct {
	Kind    string     `json:"kind"`
	Time    *time.Time `json:"time,omitempty"`
	Session string     `json:"session,omitempty"`
	// User asked for the session; By impersonated User.
	User string `json:"user,omitempty"`
	By   string `json:"by,omitempty"`
	// Verdict is the session's, "refused" for a refusal, and "forged mark" for a process that marked itself.
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
	// Claimed is the session whose login UID a forged mark has.
	Claimed   string   `json:"claimed,omitempty"`
	Node      string   `json:"node,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Pod       string   `json:"pod,omitempty"`
	Container string   `json:"container,omitempty"`
	PID       int      `json:"pid,omitempty"`
	Command   []string `json:"command,omitempty"`
	// Source is what the session was asked for with, as the webhook said it.
	Source string `json:"source,omitempty"`
}

func (l *listing) session(s sessions.Session) line {
	out := line{
		Kind: lineSession, Time: &s.Time, Session: s.ID.String(), User: s.User.Name, By: s.By,
		Verdict: s.Verdict.String(), Why: string(s.Why), Command: l.argv[s.ID],
	}
	for _, u := range s.Uses {
		out.Node, out.Namespace, out.Pod, out.Container = u.Mark.Node, u.Namespace, u.Pod, u.Container
	}
	for _, a := range s.Audits {
		out.Namespace, out.Pod = cmp.Or(out.Namespace, a.Namespace), cmp.Or(out.Pod, a.Pod)
	}
	for _, r := range s.Records {
		out.Node, out.Namespace = cmp.Or(out.Node, r.Node), cmp.Or(out.Namespace, r.Namespace)
		out.Pod, out.Container = cmp.Or(out.Pod, r.Pod), cmp.Or(out.Container, r.Container)
		out.Source = string(r.Source)
		if out.Command == nil {
			out.Command = r.Command
		}
	}
	return out
}

func refusalLine(r journal.Record) line {
	return line{
		Kind: lineRefusal, Time: &r.Time, Session: r.ExecSession, Verdict: "refused", Why: r.Reason,
		Node: r.Node, Namespace: r.Namespace, Pod: r.Pod, Container: r.Container, Command: r.Argv,
	}
}

func processLine(t proc.Task, argv []string, o sessions.Origin, s sessions.Session) line {
	out := line{
		Kind: lineProcess, PID: t.PID, Verdict: o.Verdict.String(), Why: string(o.Why),
		Node: o.Use.Mark.Node, Namespace: o.Use.Namespace, Pod: o.Use.Pod, Container: o.Use.Container, Command: argv,
	}
	if o.Claimed != (bridge.SessionID{}) {
		out.Claimed = o.Claimed.String()
	}
	if o.Verdict == sessions.MarkRecorded && o.Use.Session != (bridge.SessionID{}) {
		out.Session, out.User, out.By = o.Use.Session.String(), s.User.Name, s.By
		out.Verdict, out.Why = s.Verdict.String(), string(s.Why)
	}
	return out
}

// sortProcesses puts each session's processes together.
func sortProcesses(lines []line) {
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.PID, b.PID)) })
}

func write(out io.Writer, form string, lines []line) error {
	if form == "json" {
		for _, l := range lines {
			text, err := json.Marshal(l)
			if err == nil {
				_, err = out.Write(append(terminal.EscapeJSON(text), '\n'))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return writeTables(out, lines)
}

// writeTables writes a table for each kind that there is. Sessions have one even if there are none.
func writeTables(out io.Writer, lines []line) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	row := func(cells ...string) {
		for i, cell := range cells {
			cells[i] = terminal.Escape(cmp.Or(cell, "-"))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t")) // Flush tells its error
	}
	kind := lineSession
	row("TIME", "SESSION", "USER", "VERDICT", "POD/CONTAINER", "COMMAND")
	for _, l := range lines {
		if l.Kind != kind {
			kind = l.Kind
			fmt.Fprintln(w)
			if kind == lineProcess {
				row("PID", "SESSION", "USER", "VERDICT", "POD/CONTAINER", "COMMAND")
			} else {
				row("TIME", "SESSION", "NODE", "REFUSED", "POD/CONTAINER", "COMMAND")
			}
		}
		switch kind {
		case lineProcess:
			verdict := l.Verdict
			if l.Claimed != "" {
				verdict += " (claims " + l.Claimed + ")"
			}
			row(strconv.Itoa(l.PID), l.Session, who(l), verdict, l.place(), command(l.Command))
		case lineRefusal:
			row(l.at(), l.Session, l.Node, l.Why, l.place(), command(l.Command))
		default:
			row(l.at(), l.Session, who(l), l.Verdict, l.place(), command(l.Command))
		}
	}
	return w.Flush()
}

func (l *line) at() string { return l.Time.UTC().Format(time.RFC3339) }

func (l *line) place() string {
	if l.Pod == "" {
		return l.Container
	}
	return strings.TrimSuffix(l.Namespace+"/"+l.Pod+"/"+l.Container, "/")
}

func who(l line) string {
	if l.By == "" {
		return l.User
	}
	return l.User + " (by " + l.By + ")"
}

// maxCommand is how much of a command a table shows, in characters.
const maxCommand = 100

// command returns the elements as a shell would need them, roughly: for people.
func command(argv []string) string {
	var b strings.Builder
	for i, arg := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$`") {
			arg = strconv.Quote(arg)
		}
		b.WriteString(arg)
		if b.Len() > 4*maxCommand {
			break
		}
	}
	if text := b.String(); utf8.RuneCountInString(text) > maxCommand {
		return string([]rune(text)[:maxCommand-1]) + "…"
	}
	return b.String()
}
