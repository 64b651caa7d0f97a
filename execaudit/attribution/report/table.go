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
	begun bool
}

// NewTable returns a writer to w.
func NewTable(w io.Writer) *Table {
	return &Table{w: w}
}

const tableFormat = "%-23s  %-12s  %-24s  %-24s  %-7s  %-8s  %s\n"

// Add writes one answer. What is not a fact is in parentheses with a question mark: (alice?). Control characters of
// logs are replaced, so that a command line cannot write on the terminal.
func (t *Table) Add(a *attribution.Answer) error {
	if err := t.begin(); err != nil {
		return err
	}
	l := LineOf(a)
	command := l.Command
	if command == "" {
		command = "-"
	}
	if a.Verdict != attribution.VerdictCorroborated {
		command += "  # " + string(a.Reason)
	}
	_, err := fmt.Fprintf(t.w, tableFormat, l.Time.UTC().Format("2006-01-02 15:04:05.000"), l.Verdict, visible(named(a)),
		visible(place(a, &l)), strconv.Itoa(l.Process.PID), l.Event, visible(command))
	return err
}

func (t *Table) begin() error {
	if t.begun {
		return nil
	}
	t.begun = true
	_, err := fmt.Fprintf(t.w, tableFormat, "TIME", "VERDICT", "USER", "POD", "PID", "EVENT", "COMMAND")
	return err
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
		names := make([]string, len(a.Claims))
		for i, s := range a.Claims {
			names[i] = name(s)
		}
		return "(" + strings.Join(names, ", ") + "?)"
	}
	return "-"
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
