package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/internal/terminal"
)

// MaxPageEvents is how many answers a page shows; more would not stay usable.
const MaxPageEvents = 50_000

// ErrPageFull is returned by Page.Close, once the page is written, when there were more than MaxPageEvents answers.
var ErrPageFull = errors.New("the page shows the first 50000 events only")

//go:embed page.html
var page []byte

// dataMark is where the page's data goes.
var dataMark = []byte("{{DATA}}")

// Page collects answers for one HTML page, which is complete: it loads nothing, and its policy forbids it to.
type Page struct {
	w        io.Writer
	sessions map[string]int
	data     pageData
}

type pageData struct {
	Sessions []pageSession `json:"sessions"`
	Events   []pageEvent   `json:"events"`
	Left     int           `json:"left"` // answers that found no room
}

type pageSession struct {
	ID    string `json:"id"`
	User  string `json:"user"`
	Fact  bool   `json:"fact"` // the user was corroborated at least once
	Pod   string `json:"pod"`
	Begin int64  `json:"begin"` // milliseconds since 1970
	End   int64  `json:"end"`   // 0 when it was not seen
}

type pageEvent struct {
	At       int64  `json:"at"`
	Verdict  string `json:"verdict"`
	Reason   string `json:"reason"`
	Who      string `json:"who"`
	Borrowed string `json:"borrowed"` // of a fact: who is claimed nonetheless, "" for nobody
	Session  int    `json:"session"`
	Kind     string `json:"kind"`
	PID      int    `json:"pid"`
	Process  string `json:"process"`
	Parent   string `json:"parent"`
	Command  string `json:"command"`
}

// NewPage returns a page that Close writes to w. It is for final answers, those of a machine with
// attribution.Options.Last: a correction would stand beside what it replaces.
func NewPage(w io.Writer) *Page {
	return &Page{w: w, sessions: map[string]int{}, data: pageData{Sessions: []pageSession{}, Events: []pageEvent{}}}
}

// Add takes one answer in.
func (p *Page) Add(a *attribution.Answer) error {
	if len(p.data.Events) == MaxPageEvents {
		p.data.Left++
		return nil
	}
	l := LineOf(a)
	borrowed := ""
	if a.Session != nil && len(a.Claims) > 0 {
		borrowed = visible(claimed(a))
	}
	p.data.Events = append(p.data.Events, pageEvent{
		At: l.Time.UnixMilli(), Verdict: a.Verdict.String(), Reason: string(a.Reason), Who: visible(named(a)), Borrowed: borrowed, Session: p.session(a, &l),
		Kind: l.Event, PID: l.Process.PID, Process: processText(l.Node, a.Event.Process), Parent: processText(l.Node, a.Event.Parent),
		Command: visible(l.Command),
	})
	return nil
}

// session returns the number of the lane in which an answer stands.
func (p *Page) session(a *attribution.Answer, l *Line) int {
	i, known := p.sessions[a.AuditID]
	if !known {
		i = len(p.data.Sessions)
		p.sessions[a.AuditID] = i
		p.data.Sessions = append(p.data.Sessions, pageSession{ID: visible(a.AuditID), User: "-", Pod: visible(place(a, l)), Begin: l.Time.UnixMilli()})
	}
	s := &p.data.Sessions[i]
	if who := a.Session; who != nil {
		*s = lane(who, name(who), true)
	} else if len(a.Claims) > 0 && !s.Fact && a.Claims[0].AuditID == a.AuditID {
		*s = lane(a.Claims[0], named(a), false)
	}
	return i
}

func lane(s *attribution.Session, user string, fact bool) pageSession {
	return pageSession{visible(s.AuditID), visible(user), fact, visible(s.Namespace + "/" + s.Pod), s.Received.UnixMilli(), milli(s.Completed)}
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func processText(node string, p attribution.Process) string {
	if !p.Identified() {
		return ""
	}
	text, _ := json.Marshal(p)
	return node + string(text)
}

// Close writes the page.
func (p *Page) Close() error {
	data, err := json.Marshal(p.data) // escapes <, > and &, so that no text ends the script element
	if err != nil {
		return err
	}
	if _, err := p.w.Write(bytes.Replace(page, dataMark, terminal.EscapeJSON(data), 1)); err != nil {
		return err
	}
	if p.data.Left > 0 {
		return ErrPageFull
	}
	return nil
}
