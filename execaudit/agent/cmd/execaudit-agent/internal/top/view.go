package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
)

// Order is what sessions are sorted by.
type Order string

// The orders.
const (
	OrderNewest    Order = "newest"    // the newest event first
	OrderSince     Order = "since"     // the session that began last first
	OrderProcesses Order = "processes" // the most processes first
	OrderPod       Order = "pod"       // by namespace, pod and container
)

// Orders are all of them, in the order in which a key goes through them.
var orders = []Order{OrderNewest, OrderSince, OrderProcesses, OrderPod}

// Layout says how a snapshot is drawn.
type Layout struct {
	// Width and Height are the terminal's; Height 0 has all lines drawn.
	Width, Height int
	Order         Order
	// From is how many sessions are scrolled past.
	From int
	// Users are the names of users by session ID.
	Users map[string]string
	// Match has only sessions shown in whose line the text is; empty has all.
	Match string
}

// matching returns the sessions that are to be shown.
func (l Layout) matching(sessions []board.Session) []board.Session {
	if l.Match == "" {
		return sessions
	}
	return slices.DeleteFunc(slices.Clone(sessions), func(s board.Session) bool {
		line := []string{name(s), s.ExecSession, s.AuditID, l.Users[s.ExecSession], pod(s), s.Container, s.Command}
		return !slices.ContainsFunc(line, func(text string) bool { return strings.Contains(text, l.Match) })
	})
}

// sorted returns the sessions in the order; those that are equal in it are in the order of Since and mark.
func sorted(sessions []board.Session, by Order) []board.Session {
	out := slices.Clone(sessions)
	slices.SortStableFunc(out, func(a, b board.Session) int {
		switch by {
		case OrderSince:
			return b.Since.Compare(a.Since)
		case OrderProcesses:
			return cmp.Compare(b.Processes, a.Processes)
		case OrderPod:
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Container, b.Container))
		}
		return b.Last.Compare(a.Last)
	})
	return out
}

// column is one of the table's; a width of 0 is what is left.
type column struct {
	title string
	width int
	text  func(board.Session) string
}

// Draw returns the lines of the view, each of at most l.Width columns, safe to print and without control characters.
func Draw(s board.Snapshot, l Layout) []string {
	lines := []string{fit(headline(s), l.Width), fit(counts(s), l.Width)}
	for _, fault := range s.Status.Faults(s.Time) {
		lines = append(lines, fit("! "+fault, l.Width))
	}
	columns := l.columns(s.Time)
	lines = append(lines, "", l.row(columns, func(c column) string { return c.title }))
	sessions := sorted(l.matching(s.Sessions), l.Order)
	from := min(max(l.From, 0), len(sessions))
	room := len(sessions)
	if l.Height > 0 {
		room = max(l.Height-len(lines)-1, 0)
	}
	to := min(from+room, len(sessions))
	for _, session := range sessions[from:to] {
		lines = append(lines, l.row(columns, func(c column) string { return c.text(session) }))
	}
	if more := len(sessions) - to; more > 0 {
		lines = append(lines, fit(fmt.Sprintf("%d more sessions", more), l.Width))
	}
	if l.Height > 0 && len(lines) > l.Height {
		lines = lines[:l.Height]
	}
	return lines
}

func headline(s board.Snapshot) string {
	mode := s.Status.Mode
	return fmt.Sprintf("execaudit-agent  %s  %s  %s", s.Status.Node, mode, s.Time.UTC().Format(time.DateTime+" UTC"))
}

func counts(s board.Snapshot) string {
	var lost uint64
	for _, n := range s.Status.Lost {
		lost += n
	}
	n := s.Status
	return fmt.Sprintf("%d sessions, %d processes, %d events (%d lost, %d held), marks: %d forged, %d left",
		n.Sessions, n.Processes, n.Events["fork"]+n.Events["exec"]+n.Events["exit"], lost, n.Held, n.Notices["forged"], n.Notices["left"])
}

// columns are the table's for the width: what is least needed goes first.
func (l Layout) columns(now time.Time) []column {
	all := []column{
		{"SESSION", 8, func(s board.Session) string { return name(s) }},
		{"USER", 16, func(s board.Session) string { return cmp.Or(l.Users[s.ExecSession], "-") }},
		{"POD", l.podWidth(), func(s board.Session) string { return pod(s) }},
		{"AGE", 7, func(s board.Session) string { return since(s, now) }},
		{"PROCS", 5, func(s board.Session) string { return strconv.Itoa(s.Processes) }},
		{"PID", 8, func(s board.Session) string { return cmp.Or(strings.TrimPrefix(strconv.Itoa(s.PID), "0"), "-") }},
		{"LAST", 6, func(s board.Session) string { return ago(now.Sub(s.Last)) }},
		{"NEWEST COMMAND", 0, func(s board.Session) string { return s.Command }},
	}
	drop := func(title string) {
		all = slices.DeleteFunc(all, func(c column) bool { return c.title == title })
	}
	if len(l.Users) == 0 {
		drop("USER")
	}
	for _, step := range []struct {
		below int
		title string
	}{{110, "PID"}, {80, "LAST"}, {70, "USER"}, {60, "PROCS"}, {50, "AGE"}} {
		if l.Width < step.below {
			drop(step.title)
		}
	}
	return all
}

// podWidth has room for a command beside the pod.
func (l Layout) podWidth() int { return min(max(l.Width/4, 16), 40) }

// row returns one line of the table.
func (l Layout) row(columns []column, text func(column) string) string {
	var b strings.Builder
	left := l.Width
	for _, c := range columns {
		width := c.width
		if width == 0 || width > left {
			b.WriteString(fit(text(c), left))
			break
		}
		b.WriteString(cell(text(c), width))
		left -= width
		if gap := min(2, left); gap > 0 {
			b.WriteString("  "[:gap])
			left -= gap
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// name is the beginning of the session's ID, else its mark.
func name(s board.Session) string {
	id := cmp.Or(s.ExecSession, s.AuditID)
	switch {
	case !s.Known:
		return "forged?"
	case id == "":
		return strconv.FormatUint(uint64(s.SessionID), 10)
	case len(id) > 8:
		return id[:8]
	}
	return id
}

func pod(s board.Session) string {
	switch {
	case s.Pod != "":
		return s.Namespace + "/" + s.Pod
	case s.ContainerID != "":
		return s.ContainerID
	}
	return "-"
}

func since(s board.Session, now time.Time) string {
	if s.Since.IsZero() {
		return "-"
	}
	return ago(now.Sub(s.Since))
}

// ago is a span in at most six characters.
func ago(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d/time.Second%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d/time.Minute%60)
	case d < 10000*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return "years"
}
