package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// Table writes answers as lines of columns, as they come: their widths are fixed, so that no line has to wait for
// another.
type Table struct {
	w     io.Writer
	live  bool
	begun bool
}

// NewTable returns a writer to w, for final answers: those of a machine with attribution.Options.Last.
func NewTable(w io.Writer) *Table {
	return &Table{w: w}
}

// NewLiveTable returns a writer to w, for answers that may be corrected. Its first column names each answer by the
// first 8 digits of its key; a correction has the name of what it replaces, with its revision: 3f2a9c01#2.
func NewLiveTable(w io.Writer) *Table {
	return &Table{w: w, live: true}
}

const (
	tableFormat  = "%-23s  %-12s  %-24s  %-24s  %-7s  %-8s  %s\n"
	answerFormat = "%-12s  " // in front of it, of a live table
)

// Add writes one answer. What is not a fact is in parentheses with a question mark: (alice?). Control characters of
// logs are replaced, so that a command line cannot write on the terminal.
func (t *Table) Add(a *attribution.Answer) error {
	if err := t.begin(); err != nil {
		return err
	}
	l := LineOf(a)
	return t.write(answerText(a), l.Time.UTC().Format("2006-01-02 15:04:05.000"), l.Verdict.String(), visible(named(a)),
		visible(place(a, &l)), strconv.Itoa(l.Process.PID), l.Event, visible(t.said(a)))
}

// write writes a line of columns, of which a live table alone has the first.
func (t *Table) write(answer string, columns ...any) error {
	line := fmt.Sprintf(tableFormat, columns...)
	if t.live {
		line = fmt.Sprintf(answerFormat, answer) + line
	}
	_, err := io.WriteString(t.w, line)
	return err
}

// said returns the command and, behind a "#", whether the answer is a correction, why it is not a fact, and whose ID is
// borrowed where it is one.
func (t *Table) said(a *attribution.Answer) string {
	command, why := a.Event.Command, string(a.Reason)
	if command == "" {
		command = "-"
	}
	if len(a.Claims) > 0 && a.Session != nil {
		why += ": " + claimed(a)
	}
	switch {
	case t.live && a.Revision > 1:
		return command + "  # corrected: " + why
	case a.Verdict != attribution.VerdictCorroborated || len(a.Claims) > 0:
		return command + "  # " + why
	}
	return command
}

// answerText returns the first 8 digits of an answer's key, a correction's with its revision.
func answerText(a *attribution.Answer) string {
	text := a.Key.String()[:8]
	if a.Revision > 1 {
		text += "#" + strconv.Itoa(a.Revision)
	}
	return text
}

func (t *Table) begin() error {
	if t.begun {
		return nil
	}
	t.begun = true
	return t.write("ANSWER", "TIME", "VERDICT", "USER", "POD", "PID", "EVENT", "COMMAND")
}

// Close does nothing: every line is written at once.
func (t *Table) Close() error {
	return nil
}

// named returns how an answer names its user: "alice", "bob (by alice)" for one impersonated, "(alice?)" for a claim,
// "-" for none.
func named(a *attribution.Answer) string {
	switch {
	case a.Session != nil:
		return name(a.Session)
	case len(a.Claims) > 0:
		return claimed(a)
	}
	return "-"
}

// claimed returns the names of the sessions whose ID is claimed.
func claimed(a *attribution.Answer) string {
	names := make([]string, len(a.Claims))
	for i, s := range a.Claims {
		names[i] = name(s)
	}
	return "(" + strings.Join(names, ", ") + "?)"
}

// place returns where the process ran: "shop/web-0", "(shop/web-0?)" where only the claimed session says so, "-"
// where it is unknown.
func place(a *attribution.Answer, l *Line) string {
	if l.Namespace+l.Pod != "" {
		return l.Namespace + "/" + l.Pod
	}
	if len(a.Claims) == 1 && a.Claims[0].Namespace+a.Claims[0].Pod != "" {
		return "(" + a.Claims[0].Namespace + "/" + a.Claims[0].Pod + "?)"
	}
	return "-"
}

func name(s *attribution.Session) string {
	if s.Impersonated != nil {
		return s.Impersonated.Name + " (by " + s.User.Name + ")"
	}
	return s.User.Name
}
